import { err, ok, type Result } from "neverthrow";
import { type UnverifiedWebhook, unverifiedWebhook } from "../../application/errors.js";
import type {
  IncomingWebhook,
  ProviderUnavailable,
  ProviderWebhooks,
} from "../../application/ports/generation-provider.js";
import type { TaskId } from "../../domain/ids.js";

/** The webhooks of a provider in memory. The query of a genuine one has a proof that was issued here. */
export class MemoryProviderWebhooks implements ProviderWebhooks {
  /** While false, no webhook can be verified. */
  available = true;
  private readonly issued = new Map<string, TaskId>();

  /** A genuine webhook about the task, as the provider sends it. It may arrive any number of times. */
  about(task: TaskId): IncomingWebhook {
    const proof = crypto.randomUUID();
    this.issued.set(proof, task);
    return { body: new Uint8Array(), headers: {}, query: new URLSearchParams({ proof }) };
  }

  async taskOf({ query }: IncomingWebhook): Promise<Result<TaskId, UnverifiedWebhook | ProviderUnavailable>> {
    if (!this.available) return err({ kind: "provider_unavailable", reason: "the keys cannot be fetched" });
    const task = this.issued.get(query.get("proof") ?? "");
    return task === undefined ? err(unverifiedWebhook("The webhook has no proof of this service.")) : ok(task);
  }
}
