import type { Request, Response } from "hyper-express";
import type { Result } from "neverthrow";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { clientAddress } from "./client-address.js";
import { readBody } from "./read-body.js";
import { requestIdOf } from "./request-id.js";

/** One request, as the handlers see it. */
export type Exchange = {
  readonly requestId: string;
  /** Path and query, as they were sent. */
  readonly url: string;
  /** The network address of the client (client-address.ts). */
  readonly remoteAddress: string;
  /** `GET` or `POST`, and `HEAD`, which is answered like `GET`. */
  readonly method: string;
  readonly query: URLSearchParams;
  /** Aborted when a long answer is of no use any more: the client has gone, or the server stops. */
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** A header by its name in lower case; if it was sent more than once, the last one. */
  header(name: string): string | undefined;
  /** A part of the path by its name in the route, as it was sent: not decoded. */
  parameter(name: string): string;
  /** Reads the body once (read-body.ts). */
  readBody(
    admit: (bytes: number) => Result<void, InvalidRequest>,
    take: (chunk: Buffer) => Promise<void>,
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
  readBody: (admit, take) => readBody(request, response, admit, take),
});
