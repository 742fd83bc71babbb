import type { AccountId } from "../../domain/account.js";
import type { ApiKeyId, ApiKeySecret } from "../../domain/api-key.js";
import type { OrderId } from "../../domain/order.js";
import type { SessionToken } from "../../domain/session.js";
import type { Slug } from "../../domain/slug.js";
import type { TaskId } from "../../domain/task-id.js";

/** Fresh, unique names. Later ones of a kind sort after earlier ones; the random ones cannot be guessed. */
export interface Ids {
  taskId(): TaskId;
  accountId(): AccountId;
  orderId(): OrderId;
  apiKeyId(): ApiKeyId;
  apiKeySecret(): ApiKeySecret;
  slug(): Slug;
  /** At least 128 random bits as 22 or more characters of base64url: the base of an image's object names. */
  unguessable(): string;
  sessionToken(): SessionToken;
}
