import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "neverthrow";
import type { UploadedFile } from "../../application/upload-images.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
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
    readonly form: URLSearchParams;
    readonly files: readonly UploadedFile[];
    readonly bytes: Uint8Array;
    readonly badBody: string | undefined;
  }) => Promise<Reply>;
};

/** A form without files, or a notice of a payment service: texts, and few of them. */
const BODY_BYTES_MAX = 256 * 1024;

type Body = { readonly form: URLSearchParams; readonly files: readonly UploadedFile[]; readonly bytes: Uint8Array };

/** Reads what the page takes, lets it answer, and then throws away the files that came with the request. */
export const pageRoute =
  (page: MountedPage, uploadsFolder: string): Handler =>
  async (exchange) => {
    if (page.body !== "files") return answer(page, exchange, await readWhole(page, exchange));
    const folder = await mkdtemp(join(uploadsFolder, "form-"));
    try {
      const form = new URLSearchParams();
      const received = await receiveFiles(exchange, folder, form);
      // A file input in which nothing was chosen is sent as an empty file.
      const chosen = received.map((files) => files.filter(({ sizeBytes }) => sizeBytes > 0));
      const badBody = chosen.isErr() ? chosen.error.message : undefined;
      return await answer(page, exchange, { ...NO_BODY, form, files: chosen.unwrapOr([]), badBody });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

const NO_BODY: Body = { form: new URLSearchParams(), files: [], bytes: new Uint8Array() };

const readWhole = async (page: MountedPage, exchange: Exchange): Promise<Body & { badBody: string | undefined }> => {
  if (page.body === "none") return { ...NO_BODY, badBody: undefined };
  const chunks: Buffer[] = [];
  const read = await exchange.readBody(admit, async (chunk) => void chunks.push(chunk));
  const bytes = Buffer.concat(chunks);
  const badBody = read.isErr() ? read.error.message : undefined;
  if (page.body === "raw") return { ...NO_BODY, bytes, badBody };
  return { ...NO_BODY, form: new URLSearchParams(bytes.toString("utf8")), badBody };
};

const admit = (bytes: number): Result<void, InvalidRequest> =>
  bytes <= BODY_BYTES_MAX
    ? ok(undefined)
    : err(invalidRequest(`request body: must have at most ${BODY_BYTES_MAX} bytes.`));

const answer = (page: MountedPage, exchange: Exchange, body: Body & { readonly badBody: string | undefined }) =>
  page.handle({
    ...body,
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
