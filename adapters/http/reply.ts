import type { Readable } from "node:stream";

/** A body that is too large to be held in memory: `open` is called once, and only if the body is sent. */
export type StreamedBody = { readonly sizeBytes: number; readonly open: () => Readable };

/** An answer, before it is written. Header names are in lower case. */
export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Of a 304, and of any answer to HEAD, only the length is sent: without a body that length would be wrong. */
  readonly body: string | Uint8Array | StreamedBody | undefined;
  /** What went wrong on our side: for the log only. */
  readonly cause?: unknown;
};

/** An answer that is right at this moment and for this client only, as all JSON of the interface is. */
export const json = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  body: JSON.stringify(value),
});

/** A sentence for programs that expect no JSON, such as senders of webhooks. */
export const plainText = (status: number, body: string): Reply => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  body,
});

export const withHeaders = (reply: Reply, headers: Readonly<Record<string, string>>): Reply => ({
  ...reply,
  headers: { ...reply.headers, ...headers },
});
