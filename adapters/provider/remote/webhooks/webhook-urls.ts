import { createHmac } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import { type UnverifiedWebhook, unverifiedWebhook } from "../../../../application/errors.js";
import { parseTaskId, type TaskId } from "../../../../domain/task-id.js";
import { equalBytes } from "./equal-bytes.js";

/**
 * Where a provider sends its notices of a task: `{publicUrl}/hooks/{provider}?task={id}&proof={hex}`. No provider signs
 * the address, and fal signs for all its customers with the same keys. So the address proves by itself that it is one of
 * ours: by an HMAC-SHA256 of the task's id under the API key, which nobody else but the provider has.
 */
export class WebhookUrls {
  private readonly address: string;
  private readonly apiKey: string;

  /** `publicUrl` must be https: providers send notices nowhere else. */
  constructor(publicUrl: string, provider: string, apiKey: string) {
    this.address = `${publicUrl}/hooks/${provider}`;
    this.apiKey = apiKey;
  }

  of(taskId: TaskId): string {
    return `${this.address}?task=${taskId}&proof=${this.proofOf(taskId).toString("hex")}`;
  }

  /** The task that the query of an address of ours names. */
  taskIn(query: URLSearchParams): Result<TaskId, UnverifiedWebhook> {
    const taskId = parseTaskId(query.get("task") ?? "");
    const proof = Buffer.from(query.get("proof") ?? "", "hex");
    return taskId !== undefined && equalBytes(proof, this.proofOf(taskId))
      ? ok(taskId)
      : err(unverifiedWebhook("The address is none of ours."));
  }

  private proofOf(taskId: TaskId): Buffer {
    return createHmac("sha256", this.apiKey).update(`notices of ${taskId}`).digest();
  }
}
