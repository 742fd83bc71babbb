import type { Request, Response } from "hyper-express";
import type { LiveText, Reply, StreamedBody } from "./reply.js";

/** Two internals of hyper-express. Without them an answer is sent only after the whole request body has arrived. */
type BodyParser = { _body_parser_stop(): void; received: boolean };

/** `aborted`: the client disconnected before it had the whole answer. */
export type Written = "complete" | "aborted";

/**
 * The only function that writes answers. Only a streamed body takes a promise: it resolves when the body is written or
 * the client has disconnected, and rejects if the body cannot be read completely.
 */
export const writeReply = (
  request: Request,
  response: Response,
  requestId: string,
  reply: Reply,
  close: boolean,
): Written | Promise<Written> => {
  if (response.completed || response.initiated) return "aborted";
  response.status(reply.status);
  const { headers, body, rateLimit } = reply;
  for (const name in headers) response.header(name, withoutControls(headers[name] ?? ""));
  if (rateLimit !== undefined)
    response.header("ratelimit-policy", rateLimit.policy).header("ratelimit", rateLimit.state);
  response.header("x-request-id", requestId);

  const parser = request as unknown as BodyParser;
  const unread = !parser.received;
  if (unread) {
    parser._body_parser_stop(); // the rest of the body is discarded, and the connection stays usable
    parser.received = true;
  }
  const closes = close && !unread; // a client that is still sending would not get the answer
  if (body === undefined) response.send(undefined, closes);
  else if (typeof body === "object" && "chunks" in body) return streamText(response, body);
  else if (request.method === "HEAD" || reply.status === 304 || isEmpty(body)) {
    response.header("content-length", String(sizeOf(body))).send(undefined, closes); // the length for GET
  } else if (typeof body === "string") {
    // Sent as bytes, because on Node.js 24 uWebSockets writes a string without characters above U+00FF as Latin-1.
    response.send(Buffer.from(body), closes);
  } else if (body instanceof Uint8Array) response.send(Buffer.from(body.buffer, body.byteOffset, body.length), closes);
  else return stream(response, body);
  return "complete";
};

/** So that no value can end its header. */
const withoutControls = (value: string): string => (/[\r\n\0]/.test(value) ? value.replace(/[\r\n\0]/g, " ") : value);

type SizedBody = Exclude<NonNullable<Reply["body"]>, LiveText>;

const isEmpty = (body: SizedBody): boolean => (typeof body === "string" ? body === "" : sizeOf(body) === 0);

const sizeOf = (body: SizedBody): number => {
  if (typeof body === "string") return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.length : body.sizeBytes;
};

/** Holds only one chunk in memory, even if the client reads slowly. */
const stream = async (response: Response, { sizeBytes, open }: StreamedBody): Promise<Written> => {
  const source = open();
  const disconnected = new Promise<void>((resolve) => response.once("abort", () => resolve()));
  try {
    let written = 0;
    for await (const chunk of source) {
      await Promise.race([disconnected, writeChunk(response, chunk, sizeBytes)]);
      if (response.completed) return "aborted";
      written += chunk.length;
    }
    if (written !== sizeBytes) throw new Error(`the body ended after ${written} of ${sizeBytes} bytes`);
    return "complete";
  } finally {
    source.destroy();
  }
};

/** Sends each piece of text when it arrives, and waits until it is written before it asks for the next one. */
const streamText = async (response: Response, { chunks }: LiveText): Promise<Written> => {
  const disconnected = new Promise<void>((resolve) => response.once("abort", () => resolve()));
  for await (const text of chunks) {
    await Promise.race([disconnected, writeChunk(response, Buffer.from(text), undefined)]);
    if (response.completed) return "aborted";
  }
  if (response.completed) return "aborted";
  response.send();
  return "complete";
};

/** Resolves when the chunk is written, not already when it is queued. */
const writeChunk = (response: Response, chunk: Buffer, sizeBytes: number | undefined): Promise<void> =>
  (response as unknown as { _stream_chunk(chunk: Buffer, sizeBytes?: number): Promise<void> })._stream_chunk(
    chunk,
    sizeBytes,
  );
