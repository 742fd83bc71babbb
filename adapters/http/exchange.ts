import type { Request, Response } from "hyper-express";
import type { Result } from "neverthrow";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { clientAddress } from "./client-address.js";
import { readBody } from "./read-body.js";
import { requestIdOf } from "./request-id.js";

/** One request and the means to read it, independent of the HTTP library. */
export type Exchange = {
  readonly requestId: string;
  /** Path and query as sent. */
  readonly url: string;
  /** The IP address of the client (client-address.ts). */
  readonly remoteAddress: string;
  /** `HEAD` is answered like `GET`, without a body. */
  readonly method: string;
  readonly query: URLSearchParams;
  /** Aborted when the client disconnects or the server stops: long waits end then. */
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** A header by its name in lower case. If it was sent more than once, the last value. */
  header(name: string): string | undefined;
  /** A path parameter by its name in the route, not percent-decoded. */
  parameter(name: string): string;
  /** Reads the body; may be called only once (read-body.ts). */
  readBody(
    admit: (bytes: number) => Result<void, InvalidRequest>,
    onChunk: (chunk: Buffer) => Promise<void>,
  ): Promise<Result<void, InvalidRequest>>;
};

export const exchangeOf = (request: Request, response: Response, signal: AbortSignal): Exchange => ({
  requestId: requestIdOf(request.headers["x-request-id"]),
  url: request.url,
  remoteAddress: clientAddress(request.ip, request.headers["x-forwarded-for"]),
  method: request.method,
  query: new URLSearchParams(request.path_query),
  signal,
  headers: request.headers,
  header: (name) => request.headers[name],
  parameter: (name) => request.path_parameters[name] ?? "",
  readBody: (admit, onChunk) => readBody(request, response, admit, onChunk),
});
