import { createHmac } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import { type UnverifiedWebhook, unverifiedWebhook } from "../../../../application/errors.js";
import type {
  IncomingWebhook,
  ProviderUnavailable,
  ProviderWebhooks,
} from "../../../../application/ports/generation-provider.js";
import { parseTaskId, type TaskId } from "../../../../domain/ids.js";
import { equalBytes } from "./signatures.js";

/**
 * The URLs to which a provider sends webhooks about a task: `{publicUrl}/hooks/{provider}?task={id}&proof={hex}`. No
 * provider signs the URL, and fal signs for all its customers with the same keys. So the URL itself proves that this
 * service issued it: `proof` is an HMAC-SHA256 of the task id under the API key, which only the provider also has.
 */
export class WebhookUrls {
  private readonly path: string;
  private readonly apiKey: string;

  /** `publicUrl` must be https: providers send webhooks only there. */
  constructor(publicUrl: string, provider: string, apiKey: string) {
    this.path = `${publicUrl}/hooks/${provider}`;
    this.apiKey = apiKey;
  }

  of(taskId: TaskId): string {
    return `${this.path}?task=${taskId}&proof=${this.proofOf(taskId).toString("hex")}`;
  }

  /** The task that the query of an issued URL names. */
  taskIn(query: URLSearchParams): Result<TaskId, UnverifiedWebhook> {
    const taskId = parseTaskId(query.get("task") ?? "");
    const proof = Buffer.from(query.get("proof") ?? "", "hex");
    return taskId !== undefined && equalBytes(proof, this.proofOf(taskId))
      ? ok(taskId)
      : err(unverifiedWebhook("This URL was not issued by this service."));
  }

  private proofOf(taskId: TaskId): Buffer {
    // The label is part of the proof in URLs that are already issued: it must never change.
    return createHmac("sha256", this.apiKey).update(`notices of ${taskId}`).digest();
  }
}

/** Checks a provider's own signature. Unavailable: the keys cannot be fetched now. */
export type VerifySignature = (
  webhook: IncomingWebhook,
) => Promise<Result<void, UnverifiedWebhook | ProviderUnavailable>>;

/** The webhooks of one provider: each must carry a URL that this service issued, and the provider's signature. */
export class RemoteWebhooks implements ProviderWebhooks {
  private readonly urls: WebhookUrls;
  private readonly verifySignature: VerifySignature | undefined;

  /** Without `verifySignature` the URL alone decides. */
  constructor(urls: WebhookUrls, verifySignature: VerifySignature | undefined) {
    this.urls = urls;
    this.verifySignature = verifySignature;
  }

  async taskOf(webhook: IncomingWebhook): Promise<Result<TaskId, UnverifiedWebhook | ProviderUnavailable>> {
    const task = this.urls.taskIn(webhook.query);
    // The URL comes first, so that a forged one never makes this service fetch keys.
    if (task.isErr() || this.verifySignature === undefined) return task;
    return (await this.verifySignature(webhook)).map(() => task.value);
  }
}
