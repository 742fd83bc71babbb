import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "neverthrow";
import type { UploadedFile } from "../../application/panoramas/upload-images.js";
import { type InvalidRequest, invalidRequest, WHOLE_BODY } from "../../domain/invalid-request.js";
import type { Exchange } from "./exchange.js";
import type { Handler } from "./listener.js";
import { receiveFiles } from "./receive-files.js";
import type { Reply } from "./reply.js";

/** A page of the web side, as it is mounted here. It says which body it takes, and gets it read. */
export type MountedPage = {
  readonly method: "GET" | "POST";
  /** As in `/p/:slug`. */
  readonly path: string;
  readonly body: "none" | "fields" | "files" | "raw";
  readonly handle: (request: {
    readonly url: string;
    readonly params: Readonly<Record<string, string>>;
    readonly query: URLSearchParams;
    readonly headers: Readonly<Record<string, string | undefined>>;
    readonly cookies: ReadonlyMap<string, string>;
    readonly remoteAddress: string;
    readonly readBody: () => Promise<Body>;
  }) => Promise<Reply>;
};

/** A form without files, or a notice: texts, and few of them. Replicate's repeat what was sent, a small picture too. */
const BODY_BYTES_MAX = 512 * 1024;

type Body = {
  readonly form: URLSearchParams;
  readonly files: readonly UploadedFile[];
  readonly bytes: Uint8Array;
  /** The rule that the body breaks; the other members are empty then. */
  readonly badBody: InvalidRequest | undefined;
};

const NO_BODY: Body = { form: new URLSearchParams(), files: [], bytes: new Uint8Array(), badBody: undefined };

/** Lets the page answer; it reads its body when it wants to. Files that came with the request are gone afterwards. */
export const pageRoute =
  (page: MountedPage, uploadsFolder: string): Handler =>
  async (exchange) => {
    if (page.body !== "files") return answer(page, exchange, () => readWhole(page, exchange));
    const folder = await mkdtemp(join(uploadsFolder, "form-"));
    try {
      return await answer(page, exchange, () => readFiles(exchange, folder));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

const readFiles = async (exchange: Exchange, folder: string): Promise<Body> => {
  const form = new URLSearchParams();
  const received = await receiveFiles(exchange, folder, form);
  // A file input in which nothing was chosen is sent as an empty file.
  const files = received.unwrapOr([]).filter(({ sizeBytes }) => sizeBytes > 0);
  return { ...NO_BODY, form, files, badBody: received.isErr() ? received.error : undefined };
};

const readWhole = async (page: MountedPage, exchange: Exchange): Promise<Body> => {
  const chunks: Buffer[] = [];
  const read = await exchange.readBody(admit, async (chunk) => void chunks.push(chunk));
  if (read.isErr()) return { ...NO_BODY, badBody: read.error };
  const bytes = Buffer.concat(chunks);
  return page.body === "raw"
    ? { ...NO_BODY, bytes }
    : { ...NO_BODY, form: new URLSearchParams(bytes.toString("utf8")) };
};

const admit = (bytes: number): Result<void, InvalidRequest> =>
  bytes <= BODY_BYTES_MAX ? ok(undefined) : err(invalidRequest(WHOLE_BODY, { name: "bytes_max", max: BODY_BYTES_MAX }));

const answer = (page: MountedPage, exchange: Exchange, readBody: () => Promise<Body>): Promise<Reply> =>
  page.handle({
    readBody,
    url: exchange.url,
    params: Object.fromEntries(
      [...page.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, decoded(exchange.parameter(name))]),
    ),
    query: exchange.query,
    headers: exchange.headers,
    cookies: cookiesOf(exchange.header("cookie")),
    remoteAddress: exchange.remoteAddress,
  });

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
};

const cookiesOf = (header: string | undefined): ReadonlyMap<string, string> =>
  new Map(
    (header ?? "").split(";").flatMap((pair): [string, string][] => {
      const [name = "", ...value] = pair.split("=");
      return name.trim() === "" ? [] : [[name.trim(), value.join("=").trim()]];
    }),
  );
