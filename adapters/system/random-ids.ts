import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";
import type { Clock } from "../../application/ports/clock.js";
import type { Ids } from "../../application/ports/ids.js";
import { type ApiKeyId, type ApiKeySecret, apiKeySecret } from "../../domain/accounts/api-key.js";
import type { PasswordLinkToken } from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import type { OrderId } from "../../domain/credits/order.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { type Slug, slugFrom } from "../../domain/tasks/slug.js";
import { type EndpointId, type EndpointSecret, endpointSecret } from "../../domain/webhooks/webhook-endpoint.js";
import { SystemClock } from "./system-clock.js";

const SLUG_BYTES = 16;
const SECRET_BYTES = 32;
const UNGUESSABLE_BYTES = 16;
const SEQUENCE_BYTES = 4;

/** An id is a prefix and a version 7 UUID, so ids sort by creation time. All other values are random bytes. */
export class RandomIds implements Ids {
  private readonly clock: Pick<Clock, "now">;
  private milliseconds = Number.NEGATIVE_INFINITY;
  private sequence = 0;

  constructor(clock: Pick<Clock, "now"> = new SystemClock()) {
    this.clock = clock;
  }

  taskId(): TaskId {
    return `pan_${this.sortable()}` as TaskId;
  }

  accountId(): AccountId {
    return `acc_${this.sortable()}` as AccountId;
  }

  orderId(): OrderId {
    return `ord_${this.sortable()}` as OrderId;
  }

  apiKeyId(): ApiKeyId {
    return `key_${this.sortable()}` as ApiKeyId;
  }

  apiKeySecret(): ApiKeySecret {
    return apiKeySecret(randomBytes(SECRET_BYTES).toString("base64url"));
  }

  endpointId(): EndpointId {
    return `whk_${this.sortable()}` as EndpointId;
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

  /** Sorts behind all before, also those of the same millisecond, and after the clock was set back. */
  private sortable(): string {
    const now = this.clock.now().getTime();
    if (now > this.milliseconds) {
      this.milliseconds = now;
      this.sequence = randomBytes(SEQUENCE_BYTES).readUInt32BE() >>> 1; // leaves room for as many in this millisecond
    } else this.sequence += 1;
    return v7({ msecs: this.milliseconds, seq: this.sequence }).replaceAll("-", "");
  }
}

const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/**
 * Fills the pool when it is used up, because a call for each value takes twenty times as long. Valid until the next
 * call.
 */
const randomBytes = (size: number): Buffer => {
  if (used + size > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += size;
  return pool.subarray(used - size, used);
};
