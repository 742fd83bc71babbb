import { createHmac } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import { type UnverifiedWebhook, unverifiedWebhook } from "../../../../application/errors.js";
import { parseTaskId, type TaskId } from "../../../../domain/ids.js";
import { equalBytes } from "./equal-bytes.js";

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
