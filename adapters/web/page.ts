import type { UploadedFile } from "../../application/panoramas/upload-images.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";

/** One page or form of the web side. It knows no HTTP server: whoever has one mounts it. */
export type Page = {
  readonly method: "GET" | "POST";
  /** As in `/p/:slug`. */
  readonly path: string;
  /** `fields`: a form's fields; `files`: `multipart/form-data` with files named `files`; `raw`: the bytes as they came. */
  readonly body: "none" | "fields" | "files" | "raw";
  readonly handle: (request: PageRequest) => Promise<PageReply>;
};

export type PageRequest = {
  /** Path and query, as they were sent. */
  readonly url: string;
  /** Decoded parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly cookies: ReadonlyMap<string, string>;
  readonly remoteAddress: string;
  /** Reads the body, once, as the page takes it: not before it is clear that whoever sends it may. */
  readonly readBody: () => Promise<PageBody>;
};

export type PageBody = {
  /** A form's fields; empty unless the page takes `fields` or `files`. */
  readonly form: URLSearchParams;
  /** They can be read until the page has answered. */
  readonly files: readonly UploadedFile[];
  /** Empty unless the page takes `raw`. */
  readonly bytes: Uint8Array;
  /** The rule that the body breaks; the other members are empty then. */
  readonly badBody: InvalidRequest | undefined;
};

export type PageReply = {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
};

/** Without leaving a form in the browser's history. */
export const redirect = (path: string, headers: Readonly<Record<string, string>> = {}): PageReply => ({
  status: 303,
  headers: { location: path, "cache-control": "no-store", ...headers },
  body: undefined,
});

/** For programs, such as those that send notices. */
export const plainText = (status: number, body: string): PageReply => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  body,
});
