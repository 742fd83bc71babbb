import type { Result } from "neverthrow";
import { ANONYMOUS_USER_AGENT } from "../../../system/outgoing-http.js";
import type { Answer, CallFailure, UpstreamCall } from "./upstream-call.js";
import type { UpstreamConnections } from "./upstream-connections.js";

/**
 * Sends each HTTP call as one request, without retries or redirects, because a creation that is sent twice is paid
 * twice. The first call loads undici, so that no command loads it that calls no provider.
 */
export class UpstreamHttp {
  private readonly userAgent: string;
  private connections: Promise<UpstreamConnections> | undefined;

  constructor(userAgent = ANONYMOUS_USER_AGENT) {
    this.userAgent = userAgent;
  }

  async call(call: UpstreamCall): Promise<Result<Answer, CallFailure>> {
    this.connections ??= import("./upstream-connections.js").then((module) => new module.UpstreamConnections());
    return (await this.connections).send({ ...call, headers: { "user-agent": this.userAgent, ...call.headers } });
  }

  async close(): Promise<void> {
    await (await this.connections)?.close();
  }
}
