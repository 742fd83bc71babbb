import { ok, type Result } from "neverthrow";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { AccountId } from "../../../domain/ids.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import type { InvalidMessage } from "../../wording/rule-predicate.js";
import type { RawExchange } from "../request-source.js";
import { clientAddress, type TrustedProxies } from "./client-address.js";
import { endedEarly, readBody } from "./read-body.js";
import { requestIdOf, traceIdOf, traceparentOf } from "./request-headers.js";
import type { Sender } from "./senders.js";

/**
 * One request and the means to read it, independent of the HTTP server. What only some routes need is computed when
 * it is read.
 */
export class Exchange {
  readonly requestId: string;
  /** The sender, once it was needed or authenticated. */
  sender: Sender | undefined;
  /** Account and key of an authenticated request. */
  accountId: AccountId | undefined;
  keyId: ApiKeyId | undefined;
  /** True if the request only waits for an event, and holds no work. */
  isIdle = false;
  private knownTraceparent: string | undefined;
  /** `HEAD` is answered like `GET`, without a body. */
  readonly method: string;
  private readonly raw: RawExchange;
  private stopped = false;
  private controller: AbortController | undefined;

  constructor(raw: RawExchange) {
    this.raw = raw;
    this.method = raw.method;
    this.requestId = requestIdOf(raw.headers["x-request-id"]);
  }

  /** The W3C trace context to pass on: of the request, or of its span if requests are traced. */
  get traceparent(): string {
    this.knownTraceparent ??= traceparentOf(this.raw.headers.traceparent, this.requestId);
    return this.knownTraceparent;
  }

  set traceparent(traceparent: string) {
    this.knownTraceparent = traceparent;
  }

  /** The id of the trace. Absent if it is new and no client knows it, as for most reads. */
  get traceId(): string | undefined {
    if (this.raw.headers.traceparent === undefined && this.knownTraceparent === undefined) return undefined;
    return traceIdOf(this.traceparent);
  }

  /** Path and query as sent. */
  get url(): string {
    return this.raw.url;
  }

  /** The address of the client (client-address.ts). Throws if it is read first after the client has disconnected. */
  remoteAddress(trustedProxies: TrustedProxies): string {
    return clientAddress(this.raw.peerAddress, this.raw.headers["x-forwarded-for"], trustedProxies);
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.raw.query);
  }

  get headers(): Readonly<Record<string, string | undefined>> {
    return this.raw.headers;
  }

  /** A header by its name in lower case. If it was sent more than once, the last value. */
  header(name: string): string | undefined {
    return this.raw.headers[name];
  }

  /** The IP address of the peer. Empty if it is read first after the client has disconnected. */
  get peerAddress(): string {
    try {
      return this.raw.peerAddress;
    } catch {
      return "";
    }
  }

  /** A path parameter by its name in the route, not percent-decoded. */
  parameter(name: string): string {
    return this.raw.parameter(name) ?? "";
  }

  /** Reads the body; may be called only once (read-body.ts). */
  readBody(
    admit: (bytes: number) => Result<void, InvalidRequest>,
    onChunk: (chunk: Buffer) => Promise<void>,
  ): Promise<Result<void, InvalidMessage>> {
    return readBody(this.raw, admit, onChunk);
  }

  /**
   * Call after reading the body and before charging. Returns an error if the client has disconnected, or has sent
   * something after the body that ends the connection. Afterwards, disconnects and further bytes are not noticed until
   * the answer is sent.
   */
  async hold(): Promise<Result<void, InvalidMessage>> {
    if (!this.raw.closed) await this.raw.hold();
    return this.raw.closed ? endedEarly : ok(undefined);
  }

  /** Aborted when the client disconnects or the server stops: long waits end then. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      const controller = new AbortController();
      this.controller = controller;
      if (this.stopped || this.raw.closed) controller.abort();
      else this.raw.onDisconnect(() => controller.abort());
    }
    return this.controller.signal;
  }

  /** Ends long waits because the server stops. */
  stop(): void {
    this.stopped = true;
    this.controller?.abort();
  }
}
