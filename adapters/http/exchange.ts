import type { Request, Response } from "hyper-express";
import type { Result } from "neverthrow";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { clientAddress, type TrustedProxies } from "./client-address.js";
import { readBody } from "./read-body.js";
import { requestIdOf } from "./request-id.js";

/**
 * One request and the means to read it, independent of the HTTP library. What only some routes need is computed when
 * it is read.
 */
export class Exchange {
  readonly requestId: string;
  /** `HEAD` is answered like `GET`, without a body. */
  readonly method: string;
  private readonly request: Request;
  private readonly response: Response;
  private stopped = false;
  private controller: AbortController | undefined;

  constructor(request: Request, response: Response) {
    this.request = request;
    this.response = response;
    this.method = request.method;
    this.requestId = requestIdOf(request.headers["x-request-id"]);
  }

  /** Path and query as sent. */
  get url(): string {
    return this.request.url;
  }

  /** The address of the client (client-address.ts). Throws if it is read first after the client has disconnected. */
  remoteAddress(trustedProxies: TrustedProxies): string {
    return clientAddress(this.request.ip, this.request.headers["x-forwarded-for"], trustedProxies);
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.request.path_query);
  }

  get headers(): Readonly<Record<string, string | undefined>> {
    return this.request.headers;
  }

  /** A header by its name in lower case. If it was sent more than once, the last value. */
  header(name: string): string | undefined {
    return this.request.headers[name];
  }

  /** A path parameter by its name in the route, not percent-decoded. */
  parameter(name: string): string {
    return this.request.path_parameters[name] ?? "";
  }

  /** Reads the body; may be called only once (read-body.ts). */
  readBody(
    admit: (bytes: number) => Result<void, InvalidRequest>,
    onChunk: (chunk: Buffer) => Promise<void>,
  ): Promise<Result<void, InvalidRequest>> {
    return readBody(this.request, this.response, admit, onChunk);
  }

  /** Aborted when the client disconnects or the server stops: long waits end then. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      const controller = new AbortController();
      this.controller = controller;
      if (this.stopped || this.response.completed) controller.abort();
      else this.response.once("abort", () => controller.abort());
    }
    return this.controller.signal;
  }

  /** Ends long waits because the server stops. */
  stop(): void {
    this.stopped = true;
    this.controller?.abort();
  }
}
