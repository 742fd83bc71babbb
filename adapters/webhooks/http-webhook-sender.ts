import type { OutgoingWebhook, WebhookSender } from "../../application/ports/webhook-sender.js";
import type { AttemptResult } from "../../domain/webhook-delivery.js";
import { ForbiddenAddress, lookupPublic, whyForbidden } from "../system/public-lookup.js";
import { webhookSignature } from "./webhook-signature.js";

/** From the name lookup to the status of the answer. */
const TIMEOUT_MILLISECONDS = 10_000;

/** Bytes of an answer that are read, so that its connection can be used again. The connection of a longer one is closed. */
const ANSWER_BYTES_MAX = 4 * 1024;
const ANSWER_MILLISECONDS = 1_000;

const GONE = 410;
const DETAIL_CHARACTERS_MAX = 200;

/**
 * Sends webhooks over HTTP: only to https and to public addresses, like the fetches of reference images (SECURITY.md).
 * Does not follow redirects, and does not use what the receiver answers besides its status.
 */
export class HttpWebhookSender implements WebhookSender {
  private readonly privateOrigins: ReadonlySet<string>;
  private readonly timeoutMilliseconds: number;
  private client: Promise<Client> | undefined;

  /** `privateOrigins` are set by the operator: they may use http and a private address. */
  constructor(privateOrigins: readonly string[] = [], timeoutMilliseconds = TIMEOUT_MILLISECONDS) {
    this.privateOrigins = new Set(privateOrigins);
    this.timeoutMilliseconds = timeoutMilliseconds;
  }

  async send({ url: text, id, body, secrets, at, traceparent }: OutgoingWebhook): Promise<AttemptResult> {
    const url = new URL(text);
    const isPrivate = this.privateOrigins.has(url.origin);
    const forbidden = isPrivate ? undefined : whyForbidden(url);
    if (forbidden !== undefined) return failed(forbidden);
    const timestamp = Math.floor(at.getTime() / 1000);
    try {
      this.client ??= openClient();
      const { request, plain, guarded } = await this.client;
      const answer = await request(url, {
        method: "POST",
        dispatcher: isPrivate ? plain : guarded,
        headers: {
          "content-type": "application/json",
          "user-agent": "panorama-webhooks/1",
          "webhook-id": id,
          "webhook-timestamp": String(timestamp),
          "webhook-signature": webhookSignature(id, timestamp, body, secrets),
          ...(traceparent !== undefined && { traceparent }),
        },
        body,
        signal: AbortSignal.timeout(this.timeoutMilliseconds),
      });
      discard(answer);
      const { statusCode } = answer;
      if (statusCode >= 200 && statusCode < 300) return { kind: "delivered", detail: `status ${statusCode}` };
      if (statusCode >= 300 && statusCode < 400) return failed(`status ${statusCode}: redirects are not followed`);
      return { ...failed(`status ${statusCode}`), isGone: statusCode === GONE };
    } catch (error) {
      if (error instanceof ForbiddenAddress) return failed(error.message);
      return failed(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
  }

  async close(): Promise<void> {
    if (this.client === undefined) return;
    const { guarded, plain } = await this.client;
    await Promise.all([guarded.destroy(), plain.destroy()]);
  }
}

const failed = (detail: string) =>
  ({ kind: "failed", detail: detail.slice(0, DETAIL_CHARACTERS_MAX), isGone: false }) as const;

/** Loads the HTTP client at the first webhook: many services never send one. */
const openClient = async () => {
  const { Agent, request } = await import("undici");
  const timeouts = { bodyTimeout: ANSWER_MILLISECONDS };
  return {
    request,
    guarded: new Agent({ ...timeouts, connect: { lookup: lookupPublic } }),
    plain: new Agent(timeouts),
  };
};
type Client = Awaited<ReturnType<typeof openClient>>;
type Answer = Awaited<ReturnType<Client["request"]>>;

/** Reads a short body, so that the connection can be used again; ends the connection of any other. Nobody waits for it. */
const discard = ({ body, headers }: Answer): void => {
  const declared = Number(headers["content-length"] ?? Number.NaN);
  const isShort = declared <= ANSWER_BYTES_MAX;
  body.on("error", () => {});
  if (!isShort) return void body.destroy();
  const signal = AbortSignal.timeout(ANSWER_MILLISECONDS);
  body.dump({ limit: ANSWER_BYTES_MAX, signal }).catch(() => body.destroy());
};
