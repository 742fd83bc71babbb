import type { ApiKeyId, ApiKeySecret } from "../../domain/accounts/api-key.js";
import type { PasswordLinkToken } from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import type { OrderId } from "../../domain/credits/order.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { Slug } from "../../domain/tasks/slug.js";
import type { EndpointId, EndpointSecret } from "../../domain/webhooks/webhook-endpoint.js";

/**
 * Generates unique ids. Ids of tasks, accounts, orders, keys and endpoints sort by creation time; the others are
 * random.
 */
export interface Ids {
  taskId(): TaskId;
  accountId(): AccountId;
  orderId(): OrderId;
  apiKeyId(): ApiKeyId;
  apiKeySecret(): ApiKeySecret;
  endpointId(): EndpointId;
  endpointSecret(): EndpointSecret;
  slug(): Slug;
  /** At least 128 random bits as 22 or more base64url characters, for example for the name of an image. */
  unguessable(): string;
  sessionToken(): SessionToken;
  passwordLinkToken(): PasswordLinkToken;
}
