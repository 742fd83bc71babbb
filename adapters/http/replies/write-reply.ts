import type { Awaitable } from "../../../application/awaitable.js";
import type { RawExchange, Written } from "../request-source.js";
import type { LiveText, Reply, StreamedBody } from "./reply.js";

/**
 * The only function that writes answers. A streamed body takes a promise: it resolves when the body is written or
 * the client has disconnected, and rejects if the body cannot be read completely.
 */
export const writeReply = (raw: RawExchange, requestId: string, reply: Reply, close: boolean): Awaitable<Written> => {
  if (raw.closed) return "aborted";
  raw.status(reply.status);
  const { headers, body, rateLimit } = reply;
  for (const name in headers) raw.header(name, withoutControls(headers[name] ?? ""));
  if (rateLimit !== undefined) {
    raw.header("ratelimit-policy", rateLimit.policy);
    raw.header("ratelimit", rateLimit.state);
  }
  raw.header("x-request-id", requestId);

  const unread = !raw.received;
  if (unread) raw.discardBody();
  // A client that is still sending may not get the answer.
  const closes = raw.hasTinyChunks || (close && !unread);
  if (body === undefined) return raw.send(undefined, closes);
  if (typeof body === "object" && "chunks" in body) {
    if (closes) raw.header("connection", "close");
    return streamText(raw, body);
  }
  if (raw.method === "HEAD" || reply.status === 304 || isEmpty(body)) {
    raw.header("content-length", String(sizeOf(body))); // the length for GET
    return raw.send(undefined, closes);
  }
  // Sent as bytes, because on Node.js 24 uWebSockets writes a string without characters above U+00FF as Latin-1.
  if (typeof body === "string") return raw.send(Buffer.from(body), closes);
  if (body instanceof Uint8Array) return raw.send(Buffer.from(body.buffer, body.byteOffset, body.length), closes);
  if (closes) raw.header("connection", "close");
  return stream(raw, body);
};

/** Replaces control characters by spaces: some would end the header, and node:http throws for the others. */
const withoutControls = (value: string): string => (CONTROL.test(value) ? value.replace(CONTROLS, " ") : value);

/** A tab is allowed. */
const CONTROL = /[^\P{Cc}\t]/u;
const CONTROLS = new RegExp(CONTROL, "gu");

type SizedBody = Exclude<NonNullable<Reply["body"]>, LiveText>;

const isEmpty = (body: SizedBody): boolean => (typeof body === "string" ? body === "" : sizeOf(body) === 0);

const sizeOf = (body: SizedBody): number => {
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.length : body.sizeBytes;
};

/** Holds only one chunk in memory, even if the client reads slowly. */
const stream = async (raw: RawExchange, { sizeBytes, open }: StreamedBody): Promise<Written> => {
  const source = open();
  const disconnected = new Promise<void>((resolve) => raw.onDisconnect(resolve));
  try {
    let written = 0;
    for await (const chunk of source) {
      await Promise.race([disconnected, raw.sendChunk(chunk, sizeBytes)]);
      if (raw.closed) return "aborted";
      written += chunk.length;
    }
    if (written !== sizeBytes) throw new Error(`the body ended after ${written} of ${sizeBytes} bytes`);
    return await raw.endChunks();
  } finally {
    source.destroy();
  }
};

/** Sends each piece of text when it arrives, and waits until it is written before it asks for the next one. */
const streamText = async (raw: RawExchange, { chunks }: LiveText): Promise<Written> => {
  const disconnected = new Promise<void>((resolve) => raw.onDisconnect(resolve));
  for await (const text of chunks) {
    await Promise.race([disconnected, raw.sendChunk(Buffer.from(text), undefined)]);
    if (raw.closed) return "aborted";
  }
  return raw.closed ? "aborted" : raw.endChunks();
};
