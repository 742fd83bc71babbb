import type { UploadedFile } from "../../application/panoramas/uploads.js";
import type { AccountId } from "../../domain/ids.js";
import type { InvalidMessage } from "../wording/rule-predicate.js";

/**
 * One page or form of the web side: the contract between adapters/web, which makes pages, and adapters/http, which
 * mounts them. It has its own folder because adapters do not import each other.
 */
export type Page = {
  readonly method: "GET" | "POST";
  /** As in `/p/:slug`. */
  readonly path: string;
  /** `fields`: the fields of a form; `files`: `multipart/form-data` with files named `files`. */
  readonly body: "none" | "fields" | "files";
  /** Set if the page costs more than a read. Its requests are counted for their network, as are all forms. */
  readonly cost?: PageCost;
  readonly handle: (request: PageRequest) => Promise<PageReply>;
};

/** Kinds of requests with a limit for each network (adapters/http/limits/visitor-limits.ts). */
export type PageCost = "search" | "picture" | "page";

/** All pages, and what a browser gets where a program gets the JSON of an error. */
export type WebSide = {
  readonly pages: readonly Page[];
  /** The page for a path that does not exist. */
  readonly notFound: Page["handle"];
  /** The page after an unexpected error. It reads nothing, because the database may be the reason. `url`: as sent. */
  readonly failed: (requestId: string, url: string) => PageReply;
  /** The page for a network that has sent too many requests. It reads nothing. */
  readonly limited: (retryAfterSeconds: number, url: string) => PageReply;
  /** The page if others have held the database's locks for too long. It reads nothing either. */
  readonly busy: (retryAfterSeconds: number, url: string) => PageReply;
};

export type PageRequest = {
  /** Path and query as sent. */
  readonly url: string;
  /** The parameters of the path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly cookies: ReadonlyMap<string, string>;
  /** The client's IPv4 address, or the /64 network of its IPv6 address. */
  readonly remoteAddress: string;
  /** Names the account in the log line of the request. */
  readonly identify: (account: AccountId) => void;
  /** Aborted when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
  /**
   * Reads the body. Call it at most once, and only after the sender is authorised. `admitFiles` is called when the
   * first byte of a file arrives, with the fields before it; if it resolves to `false`, nothing more is received.
   * `bytesMax` replaces the limit of the body; of one with files, the fields up to there are returned.
   */
  readonly readBody: (admitFiles?: AdmitFiles, bytesMax?: number) => Promise<PageBody>;
};

export type AdmitFiles = (form: URLSearchParams) => Promise<boolean>;

export type PageBody = {
  /** Empty for pages that take neither `fields` nor `files`. */
  readonly form: URLSearchParams;
  /** Readable until the page has answered. */
  readonly files: readonly UploadedFile[];
  /** Set if the body breaks a rule; `form` and `files` may then be incomplete. */
  readonly bodyError: InvalidMessage | undefined;
};

/** Text that is too long for memory: it is sent as it arrives. */
export type PageText = { readonly chunks: AsyncIterable<string> };

export type PageReply = {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | PageText | undefined;
  /**
   * Whether the body may be sent compressed. Only without secrets: who can put text into a page and see how long the
   * answer is could guess them (the attack BREACH). `kept`: the page answers with this same object again, so what was
   * compressed is kept with it.
   */
  readonly compressible?: boolean | "kept";
};
