import { STATUS_CODES } from "node:http";
import { json } from "../../replies/reply.js";

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

/** `undefined` if the error is not about the request, but about the connection. */
export const refusalOf = ({ code = "", reason }: NodeJS.ErrnoException & { reason?: string }): Refusal | undefined => {
  if (code === "HPE_HEADER_OVERFLOW") return TOO_LARGE;
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return TOO_SLOW;
  if (code === "HPE_INVALID_EOF_STATE") return INCOMPLETE;
  if (code === "HPE_UNEXPECTED_CONTENT_LENGTH") return TWO_LENGTHS;
  if (!code.startsWith("HPE_")) return undefined;
  return refusal(400, `The request cannot be parsed as HTTP/1.1: ${reason ?? code}. Check what the client sends.`);
};
