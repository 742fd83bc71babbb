import { createHmac } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import { type ForgedNotice, forgedNotice } from "../../../application/errors.js";
import type { Clock } from "../../../application/ports/clock.js";
import type { ProviderUnavailable } from "../../../application/ports/generation-provider.js";
import type { ProviderNotice, ProviderNotices } from "../../../application/ports/provider-notices.js";
import type { TaskId } from "../../../domain/task-id.js";
import { equalBytes } from "../equal-bytes.js";
import { isTimely } from "../is-timely.js";
import type { NoticeAddress } from "../notice-address.js";
import { PublishedKeys } from "../published-keys.js";
import type { UpstreamHttp } from "../upstream-http.js";

const secretSchema = z
  .object({ key: z.string().regex(/^whsec_[A-Za-z0-9+/]{24,}={0,2}$/) })
  .transform(({ key }) => [Buffer.from(key.slice("whsec_".length), "base64")]);

/** Replicate's notices are signed by the Standard Webhooks scheme, with a secret that its interface tells. */
export class ReplicateNotices implements ProviderNotices {
  private readonly address: NoticeAddress;
  private readonly clock: Clock;
  private readonly secrets: PublishedKeys<Buffer>;

  constructor(settings: { apiKey: string; baseUrl: string }, address: NoticeAddress, http: UpstreamHttp, clock: Clock) {
    this.address = address;
    this.clock = clock;
    const source = {
      url: `${settings.baseUrl}/webhooks/default/secret`,
      headers: { authorization: `Bearer ${settings.apiKey}` },
    };
    this.secrets = new PublishedKeys(http, clock, source, secretSchema);
  }

  async taskOf({ body, headers, query }: ProviderNotice): Promise<Result<TaskId, ForgedNotice | ProviderUnavailable>> {
    const task = this.address.taskIn(query);
    if (task.isErr()) return err(task.error);
    const { "webhook-id": id, "webhook-timestamp": timestamp = "", "webhook-signature": signature = "" } = headers;
    if (id === undefined) return err(forgedNotice("There is no webhook-id."));
    if (!isTimely(timestamp, this.clock.now())) return err(forgedNotice("The webhook-timestamp is not of now."));
    const signatures = signature
      .split(" ")
      .filter((one) => one.startsWith("v1,"))
      .map((one) => Buffer.from(one.slice("v1,".length), "base64"));
    const signed = await this.secrets.oneFits((secret) => {
      const right = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body).digest();
      return signatures.some((one) => equalBytes(one, right));
    });
    return signed.andThen((fits) => (fits ? ok(task.value) : err(forgedNotice("No webhook-signature fits."))));
  }
}
