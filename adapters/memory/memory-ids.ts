import type { Ids } from "../../application/ports/ids.js";
import { type ApiKeyId, type ApiKeySecret, apiKeySecret } from "../../domain/accounts/api-key.js";
import type { PasswordLinkToken } from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import type { OrderId } from "../../domain/credits/order.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { type Slug, slugFrom } from "../../domain/tasks/slug.js";
import { type EndpointId, type EndpointSecret, endpointSecret } from "../../domain/webhooks/webhook-endpoint.js";

const SLUG_BYTES = 16;
const SECRET_BYTES = 32;
const UNGUESSABLE_BYTES = 16;

/**
 * Ids are counted, so that they are short and the same in each run: `task_0000000001`. They begin again with each
 * instance, so stores that outlive the process need others. Everything secret is random.
 */
export class MemoryIds implements Ids {
  private count = 0;

  taskId(): TaskId {
    return this.next("task") as TaskId;
  }

  accountId(): AccountId {
    return this.next("account") as AccountId;
  }

  orderId(): OrderId {
    return this.next("order") as OrderId;
  }

  apiKeyId(): ApiKeyId {
    return this.next("key") as ApiKeyId;
  }

  apiKeySecret(): ApiKeySecret {
    return apiKeySecret(random(SECRET_BYTES).toString("base64url"));
  }

  endpointId(): EndpointId {
    return this.next("endpoint") as EndpointId;
  }

  endpointSecret(): EndpointSecret {
    return endpointSecret(random(SECRET_BYTES).toString("base64"));
  }

  slug(): Slug {
    return slugFrom(random(SLUG_BYTES));
  }

  unguessable(): string {
    return random(UNGUESSABLE_BYTES).toString("base64url");
  }

  sessionToken(): SessionToken {
    return random(SECRET_BYTES).toString("base64url") as SessionToken;
  }

  passwordLinkToken(): PasswordLinkToken {
    return random(SECRET_BYTES).toString("base64url") as PasswordLinkToken;
  }

  private next(prefix: string): string {
    this.count += 1;
    return `${prefix}_${String(this.count).padStart(10, "0")}`;
  }
}

const random = (bytes: number): Buffer => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)));
