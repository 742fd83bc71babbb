import { ResultAsync } from "neverthrow";
import type { UploadLimits } from "../../../domain/images/upload-rules.js";
import { isStorable } from "../../../domain/text.js";
import type { AdmitFiles, Page, PageBody, PageReply, PageRequest, PageText, WebSide } from "../../web-page/page.js";
import type { VisitorLimits } from "../limits/visitor-limits.js";
import { COMPRESSED_BYTES_MIN, type Coding, codingFor, compress } from "../replies/compression.js";
import type { Reply } from "../replies/reply.js";
import type { TrustedProxies } from "../requests/client-address.js";
import type { Exchange } from "../requests/exchange.js";
import { readBytes } from "../requests/json-body.js";
import { receiveFiles } from "../requests/receive-files.js";
import { withTemporaryFolder } from "../requests/temporary-folder.js";
import type { Handler } from "../router.js";

/** A form without files: a few short texts. */
const FORM_BYTES_MAX = 512 * 1024;

const NO_BODY: PageBody = { form: new URLSearchParams(), files: [], bodyError: undefined };

export type PageSettings = {
  readonly uploadsFolder: string;
  readonly trustedProxies: TrustedProxies;
  readonly uploads: UploadLimits;
  readonly limits: Pick<VisitorLimits, "count">;
  readonly limited: WebSide["limited"];
};

/**
 * Mounts a page. Every form, and every page that costs more than a read, is counted for the network of the client
 * first. The page decides whether its body is read. Uploaded files are deleted after the answer.
 */
export function pageRoute(
  page: Page,
  { uploadsFolder, trustedProxies, uploads, limits, limited }: PageSettings,
): Handler {
  return async (exchange) => {
    const remoteAddress = exchange.remoteAddress(trustedProxies); // not available after the client has disconnected
    const counted = page.method === "POST" ? "form" : page.cost;
    const seconds = counted && limits.count(counted, remoteAddress);
    if (seconds !== undefined) return limited(seconds, exchange.url);
    if (page.body === "none") return answer(page, exchange, remoteAddress, async () => NO_BODY);
    if (page.body === "fields")
      return answer(page, exchange, remoteAddress, (_, bytesMax) => readFields(exchange, bytesMax));
    return withTemporaryFolder(uploadsFolder, "form-", (folder) =>
      answer(page, exchange, remoteAddress, (...asked) => readFiles(exchange, folder, uploads, ...asked)),
    );
  };
}

const readFields = async (exchange: Exchange, bytesMax = FORM_BYTES_MAX): Promise<PageBody> =>
  (await readBytes(exchange, bytesMax)).match(
    (bytes) => ({ ...NO_BODY, form: new URLSearchParams(bytes.toString("utf8")) }),
    (refusal) => ({ ...NO_BODY, bodyError: refusal }),
  );

async function readFiles(
  exchange: Exchange,
  folder: string,
  uploads: UploadLimits,
  admitFiles?: AdmitFiles,
  bytesMax?: number,
): Promise<PageBody> {
  const form = new URLSearchParams();
  const complete = await receiveFiles(exchange, folder, uploads, { fields: form, admitFiles, bytesMax });
  // A form with files may create a panorama.
  const received = await complete.asyncAndThen((files) => new ResultAsync(exchange.hold()).map(() => files));
  // Browsers send an empty file for a file input without a selection.
  const files = received.unwrapOr([]).filter(({ sizeBytes }) => sizeBytes > 0);
  return { form, files, bodyError: received.isErr() ? received.error : undefined };
}

async function answer(
  page: Page,
  exchange: Exchange,
  remoteAddress: string,
  readBody: PageRequest["readBody"],
): Promise<Reply> {
  const acceptEncoding = exchange.header("accept-encoding");
  const reply = await page.handle({
    readBody,
    get signal() {
      return exchange.signal; // made only for the pages that need it
    },
    url: exchange.url,
    params: Object.fromEntries(
      [...page.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => [name, decoded(exchange.parameter(name))]),
    ),
    query: exchange.query,
    headers: exchange.headers,
    cookies: cookiesOf(exchange.header("cookie")),
    remoteAddress,
    identify: (account) => {
      exchange.accountId = account;
    },
  });
  if (exchange.method === "HEAD" && isText(reply.body)) return { ...reply, body: "" };
  return reply.compressible ? compressed(reply, acceptEncoding) : reply;
}

const isText = (body: Reply["body"]): body is PageText => typeof body === "object" && "chunks" in body;

async function compressed(reply: PageReply, acceptEncoding: string | undefined): Promise<Reply> {
  const { body } = reply;
  if (typeof body !== "string" || body.length < COMPRESSED_BYTES_MIN) return reply;
  const { vary } = reply.headers;
  const headers = { ...reply.headers, vary: vary === undefined ? "accept-encoding" : `${vary}, accept-encoding` };
  const coding = codingFor(acceptEncoding);
  if (coding === undefined) return { ...reply, headers };
  const sent = await (reply.compressible === "kept" ? keptForm(reply, body, coding) : compress(body, coding, 4));
  return { ...reply, headers: { ...headers, "content-encoding": coding }, body: sent };
}

function keptForm(reply: PageReply, body: string, coding: Coding): Promise<Buffer> {
  const forms = KEPT_FORMS.get(reply) ?? {};
  KEPT_FORMS.set(reply, forms);
  forms[coding] ??= compress(body, coding, 9);
  return forms[coding];
}

type Forms = Partial<Record<Coding, Promise<Buffer>>>;

/** Compressed bodies of replies that pages return repeatedly. */
const KEPT_FORMS = new WeakMap<PageReply, Forms>();

/** Empty for text that is not valid percent-encoding, or that no store can look for. */
function decoded(text: string): string {
  try {
    const given = decodeURIComponent(text);
    return isStorable(given) ? given : "";
  } catch {
    return "";
  }
}

const cookiesOf = (header: string | undefined): ReadonlyMap<string, string> =>
  new Map(
    (header ?? "").split(";").flatMap((pair): [string, string][] => {
      const [name = "", ...value] = pair.split("=");
      return name.trim() === "" ? [] : [[name.trim(), value.join("=").trim()]];
    }),
  );
