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

/** Kinds of ids that are not secret. */
export type Named = "task" | "account" | "order" | "key" | "endpoint";

/** Ids that `nextId` makes; all other values are random bytes. */
export abstract class MadeIds implements Ids {
  protected abstract nextId(of: Named): string;
  /** Used before the next call. */
  protected abstract random(bytes: number): Buffer;

  taskId(): TaskId {
    return this.nextId("task") as TaskId;
  }

  accountId(): AccountId {
    return this.nextId("account") as AccountId;
  }

  orderId(): OrderId {
    return this.nextId("order") as OrderId;
  }

  apiKeyId(): ApiKeyId {
    return this.nextId("key") as ApiKeyId;
  }

  apiKeySecret(): ApiKeySecret {
    return apiKeySecret(this.random(SECRET_BYTES).toString("base64url"));
  }

  endpointId(): EndpointId {
    return this.nextId("endpoint") as EndpointId;
  }

  endpointSecret(): EndpointSecret {
    return endpointSecret(this.random(SECRET_BYTES).toString("base64"));
  }

  slug(): Slug {
    return slugFrom(this.random(SLUG_BYTES));
  }

  unguessable(): string {
    return this.random(UNGUESSABLE_BYTES).toString("base64url");
  }

  sessionToken(): SessionToken {
    return this.random(SECRET_BYTES).toString("base64url") as SessionToken;
  }

  passwordLinkToken(): PasswordLinkToken {
    return this.random(SECRET_BYTES).toString("base64url") as PasswordLinkToken;
  }
}
