import { createHmac } from "node:crypto";
import type { OutgoingWebhook, WebhookSender } from "../../application/ports/webhook-sender.js";
import type { AttemptResult } from "../../domain/webhooks/webhook-delivery.js";
import type { EndpointSecret } from "../../domain/webhooks/webhook-endpoint.js";
import {
  ANONYMOUS_USER_AGENT,
  ForbiddenAddress,
  lookupPublic,
  retryAfterMilliseconds,
  whyForbidden,
} from "../system/outgoing-http.js";

/** From the name lookup to the status of the answer. */
const TIMEOUT_MILLISECONDS = 10_000;

/** Maximum bytes of an answer that are read, so that its connection can be reused. A longer answer closes it. */
const ANSWER_BYTES_MAX = 4 * 1024;
const ANSWER_MILLISECONDS = 1_000;

const GONE = 410;
const BUSY_STATUSES: ReadonlySet<number> = new Set([429, 503]);
const CAUSE_CHARACTERS_MAX = 200;

/** Maximum number of origins with open connections, and their maximum idle time, whatever a receiver asks for. */
const KEPT_ORIGINS_MAX = 16;
const KEPT_MILLISECONDS = 2_000;

/**
 * Sends webhooks over HTTP: only to https and to public addresses, like the fetches of reference images (SECURITY.md).
 * Does not follow redirects, and uses only the status of the answer.
 */
export class HttpWebhookSender implements WebhookSender {
  private readonly privateOrigins: ReadonlySet<string>;
  private readonly userAgent: string;
  private readonly timeoutMilliseconds: number;
  private readonly kept = new KeptConnections();
  private client: Promise<Client> | undefined;

  /** `privateOrigins` are set by the operator: they may use http and a private address. */
  constructor(
    privateOrigins: readonly string[] = [],
    userAgent = ANONYMOUS_USER_AGENT,
    timeoutMilliseconds = TIMEOUT_MILLISECONDS,
  ) {
    this.userAgent = userAgent;
    this.privateOrigins = new Set(privateOrigins);
    this.timeoutMilliseconds = timeoutMilliseconds;
  }

  async send({ url: text, id, body, secrets, at, traceparent }: OutgoingWebhook): Promise<AttemptResult> {
    const url = new URL(text);
    const isPrivate = this.privateOrigins.has(url.origin);
    const forbidden = isPrivate ? undefined : whyForbidden(url);
    if (forbidden !== undefined) return failed(forbidden);
    const reset = !this.kept.keep(url.origin, Date.now());
    const timestamp = Math.floor(at.getTime() / 1000);
    try {
      this.client ??= openClient();
      const { request, plain, guarded } = await this.client;
      const answer = await request(url, {
        method: "POST",
        dispatcher: isPrivate ? plain : guarded,
        headers: {
          "content-type": "application/json",
          "user-agent": this.userAgent,
          "webhook-id": id,
          "webhook-timestamp": String(timestamp),
          "webhook-signature": webhookSignature(id, timestamp, body, secrets),
          ...(traceparent !== undefined && { traceparent }),
        },
        body,
        reset,
        signal: AbortSignal.timeout(this.timeoutMilliseconds),
      });
      discard(answer);
      const { statusCode } = answer;
      if (statusCode >= 200 && statusCode < 300) return { kind: "delivered", detail: `status ${statusCode}` };
      if (statusCode >= 300 && statusCode < 400) return failed(`status ${statusCode}: redirects are not followed`);
      return {
        ...failed(`status ${statusCode}`),
        isGone: statusCode === GONE,
        ...(BUSY_STATUSES.has(statusCode) && { retryAfterMilliseconds: askedPause(answer, at) }),
      };
    } catch (error) {
      return unanswered(error);
    }
  }

  async close(): Promise<void> {
    if (this.client === undefined) return;
    const { guarded, plain } = await this.client;
    await Promise.all([guarded.destroy(), plain.destroy()]);
  }
}

const failed = (detail: string) => ({ kind: "failed", detail, isGone: false }) as const;

/** The account does not see messages of the network: they contain the addresses to which names resolve here. */
function unanswered(error: unknown): AttemptResult {
  const cause = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).slice(
    0,
    CAUSE_CHARACTERS_MAX,
  );
  return { ...failed(whyUnanswered(error)), isUnanswered: true, cause };
}

function whyUnanswered(error: unknown): string {
  if (error instanceof ForbiddenAddress) return NOT_REACHABLE;
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  if (name === "TimeoutError") return "no answer in time";
  const reason = typeof code === "string" ? REASONS[code] : undefined;
  if (reason !== undefined) return reason;
  return typeof code === "string" && /^[A-Z0-9_]{1,60}$/.test(code) ? `no answer: ${code}` : "no answer";
}

/** The same message for an internal name and an unknown one: the account must not learn internal names. */
const NOT_REACHABLE = "the host name is unknown, or not a public address";

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: NOT_REACHABLE,
  EAI_AGAIN: NOT_REACHABLE,
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed before an answer",
  UND_ERR_SOCKET: "the connection was closed before an answer",
  ETIMEDOUT: "no answer in time",
  UND_ERR_CONNECT_TIMEOUT: "no answer in time",
};

/**
 * Origins whose connection may stay open after an answer. There are many receivers, and each connection takes a file
 * descriptor of this process.
 */
class KeptConnections {
  private readonly until = new Map<string, number>();

  /** True if the connection of a request that begins now may be used again. */
  keep(origin: string, now: number): boolean {
    for (const [other, end] of this.until) if (end <= now) this.until.delete(other);
    if (!this.until.has(origin) && this.until.size >= KEPT_ORIGINS_MAX) return false;
    this.until.set(origin, now + TIMEOUT_MILLISECONDS + KEPT_MILLISECONDS);
    return true;
  }
}

/** Loads the HTTP client at the first webhook: many services never send one. */
async function openClient() {
  const { Agent, request } = await import("undici");
  const timeouts = {
    bodyTimeout: ANSWER_MILLISECONDS,
    keepAliveTimeout: KEPT_MILLISECONDS,
    keepAliveMaxTimeout: KEPT_MILLISECONDS,
    keepAliveTimeoutThreshold: 0, // undici closes that much earlier, at once if it is not below the time-out
  };
  return {
    request,
    guarded: new Agent({ ...timeouts, connect: { lookup: lookupPublic } }),
    plain: new Agent(timeouts),
  };
}
type Client = Awaited<ReturnType<typeof openClient>>;
type Answer = Awaited<ReturnType<Client["request"]>>;

function askedPause({ headers }: Answer, now: Date): number | undefined {
  const { "retry-after": told } = headers;
  return retryAfterMilliseconds(typeof told === "string" ? told : undefined, now);
}

/** Reads a short body, so that the connection can be reused. Ends the connection of any other. Not awaited. */
function discard({ body, headers }: Answer): void {
  const declared = Number(headers["content-length"] ?? Number.NaN);
  const isShort = declared <= ANSWER_BYTES_MAX;
  body.on("error", () => {});
  if (!isShort) return void body.destroy();
  const signal = AbortSignal.timeout(ANSWER_MILLISECONDS);
  body.dump({ limit: ANSWER_BYTES_MAX, signal }).catch(() => body.destroy());
}

/** The value of `webhook-signature` (Standard Webhooks): one signature for each secret, separated by spaces. */
export const webhookSignature = (
  id: string,
  timestampSeconds: number,
  body: string,
  secrets: readonly EndpointSecret[],
): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
      return `v1,${createHmac("sha256", key).update(`${id}.${timestampSeconds}.${body}`).digest("base64")}`;
    })
    .join(" ");
