import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";
import type { Ids } from "../../application/ports/ids.js";
import type { AccountId } from "../../domain/account.js";
import { type ApiKeyId, type ApiKeySecret, apiKeySecret } from "../../domain/api-key.js";
import type { OrderId } from "../../domain/order.js";
import type { PasswordLinkToken } from "../../domain/password-link.js";
import type { SessionToken } from "../../domain/session.js";
import { type Slug, slugFrom } from "../../domain/slug.js";
import type { TaskId } from "../../domain/task-id.js";
import { type EndpointId, type EndpointSecret, endpointSecret } from "../../domain/webhook-endpoint.js";

const SLUG_BYTES = 16;
const SECRET_BYTES = 32;
const UNGUESSABLE_BYTES = 16;

/** An id is a prefix and a version 7 UUID, so ids sort by creation time. All other values are random bytes. */
export class RandomIds implements Ids {
  taskId(): TaskId {
    return `pan_${sortable()}` as TaskId;
  }

  accountId(): AccountId {
    return `acc_${sortable()}` as AccountId;
  }

  orderId(): OrderId {
    return `ord_${sortable()}` as OrderId;
  }

  apiKeyId(): ApiKeyId {
    return `key_${sortable()}` as ApiKeyId;
  }

  apiKeySecret(): ApiKeySecret {
    return apiKeySecret(randomBytes(SECRET_BYTES).toString("base64url"));
  }

  endpointId(): EndpointId {
    return `whk_${sortable()}` as EndpointId;
  }

  endpointSecret(): EndpointSecret {
    return endpointSecret(randomBytes(SECRET_BYTES).toString("base64"));
  }

  slug(): Slug {
    return slugFrom(randomBytes(SLUG_BYTES));
  }

  unguessable(): string {
    return randomBytes(UNGUESSABLE_BYTES).toString("base64url");
  }

  sessionToken(): SessionToken {
    return randomBytes(SECRET_BYTES).toString("base64url") as SessionToken;
  }

  passwordLinkToken(): PasswordLinkToken {
    return randomBytes(SECRET_BYTES).toString("base64url") as PasswordLinkToken;
  }
}

const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** Fills the pool when it is used up, because a call for each value takes twenty times as long. Valid until the next call. */
const randomBytes = (size: number): Buffer => {
  if (used + size > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += size;
  return pool.subarray(used - size, used);
};

const sortable = (): string => v7().replaceAll("-", "");
