import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { json } from "../../replies/reply.js";
import { framingFault } from "../framing.js";
import type { NodeExchange } from "./node-exchange.js";

const LINGER_MILLISECONDS = 1_000;

/** Connections whose client has sent bytes that cannot be parsed. All further bytes are discarded. */
const refused = new WeakSet<Duplex>();

/**
 * Answers a request that never reaches a route, and closes its connection. `unanswered` are the other requests of the
 * connection. Writes that have arrived completely are answered first: they may have been charged. Sends nothing if the
 * client would take it for the answer to one of the others.
 */
export const sendRefusal = (socket: Duplex, refusal: Refusal, unanswered: Iterable<NodeExchange>): void => {
  if (refused.has(socket)) return;
  refused.add(socket);
  const owed = [...unanswered].filter((exchange) => exchange.isOwed);
  const writes = owed.filter(({ method }) => method !== "GET" && method !== "HEAD");
  void Promise.all(writes.map((exchange) => exchange.answered())).then(() => {
    if (!socket.writable || owed.some((exchange) => !exchange.closed)) return void socket.destroy();
    socket.end(refusal);
    // Not immediately: the client would lose the answer if more of its bytes arrived at a closed socket.
    setTimeout(() => socket.destroy(), LINGER_MILLISECONDS).unref();
  });
};

/** True if the connection has been refused: what follows on it is no request. */
export const isRefused = (socket: Duplex): boolean => refused.has(socket);

/** The answer to a request that never reaches a route, as it is sent. The connection is closed after it. */
export type Refusal = string;

const refusal = (status: number, message: string): Refusal => {
  const { headers, body } = json(status, { error: { code: "invalid_request", message } });
  const lines = Object.entries({ ...headers, "content-length": Buffer.byteLength(body), connection: "close" });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`;
};

export const NO_HOST = refusal(400, "The header Host is missing. HTTP/1.1 requires it.");
export const NO_TUNNEL = refusal(
  400,
  "CONNECT: opens a tunnel through a proxy, and this is none. Send the request itself.",
);

const TOO_LARGE = refusal(431, "The headers have more than 16 KiB. Send fewer or shorter ones.");
const INCOMPLETE = refusal(400, "The request ended before it was complete.");
const TWO_LENGTHS = refusal(400, "Content-Length: must not be sent more than once.");
const TOO_SLOW = refusal(408, "The headers did not arrive within 10 seconds. Send the request again.");

/**
 * The refusal of a request whose end is not certain. The parser has refused two lengths, but accepts other encodings in
 * front of `chunked`. HTTP/1.0 has none, so a proxy sees another body.
 */
export const misframed = ({ headers, rawHeaders, httpVersion }: IncomingMessage): Refusal | undefined => {
  if (headers["transfer-encoding"] === undefined) return undefined;
  const valuesOf = (header: string) =>
    rawHeaders.filter((_, n) => n % 2 === 1 && rawHeaders[n - 1]?.toLowerCase() === header);
  const encodings = valuesOf("transfer-encoding").map((value) => value.toLowerCase());
  const fault = framingFault(valuesOf("content-length"), httpVersion === "1.0" ? encodings.map(() => "") : encodings);
  return fault === undefined ? undefined : refusal(400, fault);
};

/** `undefined` if the error is not about the request, but about the connection. */
export const refusalOf = ({ code = "", reason }: NodeJS.ErrnoException & { reason?: string }): Refusal | undefined => {
  if (code === "HPE_HEADER_OVERFLOW") return TOO_LARGE;
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return TOO_SLOW;
  if (code === "HPE_INVALID_EOF_STATE") return INCOMPLETE;
  if (code === "HPE_UNEXPECTED_CONTENT_LENGTH") return TWO_LENGTHS;
  if (!code.startsWith("HPE_")) return undefined;
  return refusal(400, `The request cannot be parsed as HTTP/1.1: ${reason ?? code}. Check what the client sends.`);
};

/** As the native server: 16 kB/s, measured over ten seconds. */
export const PERIOD_MILLISECONDS = 10_000;
/** In each of them. */
export const BYTES_MIN = 160_000;

/**
 * Closes the connection if the body arrives too slowly, so that slow clients cannot hold connections and temporary
 * files for hours. Does not count the time in which the client waits for the service to process what it has sent.
 */
export const requireSpeed = (request: IncomingMessage): void => {
  const { socket } = request;
  let before = socket.bytesRead;
  const timer = setInterval(() => {
    const arrived = socket.bytesRead - before;
    before = socket.bytesRead;
    const isWaiting = request.readableLength >= request.readableHighWaterMark;
    if (request.complete) clearInterval(timer);
    else if (arrived < BYTES_MIN && !isWaiting) socket.destroy();
  }, PERIOD_MILLISECONDS);
  timer.unref();
  request.once("close", () => clearInterval(timer));
};
