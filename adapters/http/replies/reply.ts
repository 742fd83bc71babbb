import type { Readable } from "node:stream";

/** A body that is too large for memory. `open` is called at most once, and only if the body is sent. */
export type StreamedBody = { readonly sizeBytes: number; readonly open: () => Readable };

/** Text that is sent as it arrives. The connection stays open until it ends. Bytes are UTF-8. */
export type LiveText = { readonly chunks: AsyncIterable<string> };

/** An answer that is not written yet. Header names are in lower case. */
export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** For a 304 and for HEAD only its length is sent, so those answers need a body too. */
  readonly body: string | Uint8Array | StreamedBody | LiveText | undefined;
  /** Headers about the rate limit of the API key, beside `headers` so that adding them copies nothing. */
  readonly rateLimit?: { readonly policy: string; readonly state: string } | undefined;
  /** The kind of error in this answer: for metrics only. */
  readonly error?: string | undefined;
  /** The internal error behind this answer: for the log only. */
  readonly cause?: unknown;
};

const JSON_HEADERS = { "content-type": "application/json", "cache-control": "no-store" };

/** JSON that no cache may store, because it is valid only now and for this client. */
export const json = (
  status: number,
  value: unknown,
  headers?: Readonly<Record<string, string>>,
): Reply & { readonly body: string } => ({
  status,
  headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers },
  body: JSON.stringify(value),
});

export const NO_CONTENT: Reply = { status: 204, headers: { "cache-control": "no-store" }, body: undefined };

/** A sentence for programs that expect no JSON, such as senders of webhooks. */
export const plainText = (status: number, body: string): Reply => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  body,
});
