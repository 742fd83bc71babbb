import type { BareRequest, BareResponse } from "../../library-internals.js";
import type { SentRequest } from "../../server.js";

/** What uWebSockets knows of a sender. Nothing is copied before it is asked for. */
export class BareSent implements SentRequest {
  private readonly request: BareRequest;
  private readonly response: BareResponse;

  constructor(request: BareRequest, response: BareResponse) {
    this.request = request;
    this.response = response;
  }

  header(name: string): string | undefined {
    return this.request.getHeader(name) || undefined;
  }

  get peerAddress(): string {
    return Buffer.from(this.response.getRemoteAddressAsText()).toString();
  }
}
