import type { Clock } from "../../application/ports/clock.js";
import type { Ids } from "../../application/ports/ids.js";
import type { ApiKeyId, ApiKeySecret } from "../../domain/accounts/api-key.js";
import type { PasswordLinkToken } from "../../domain/accounts/password.js";
import type { SessionToken } from "../../domain/accounts/session.js";
import type { OrderId } from "../../domain/credits/order.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { Slug } from "../../domain/tasks/slug.js";
import type { EndpointId, EndpointSecret } from "../../domain/webhooks/webhook-endpoint.js";

/** Counts the ids of a whole run. */
export type IdCounter = { last: number };

/** Ids that are the same in each run of a seed. As the real ones do, they sort by the clock of their process first. */
export class SimulatedIds implements Ids {
  /** Of this process. */
  lastTaskId: TaskId | undefined;
  private readonly counter: IdCounter;
  private readonly now: Clock["now"];

  constructor(counter: IdCounter, now: Clock["now"]) {
    this.counter = counter;
    this.now = now;
  }

  taskId(): TaskId {
    this.lastTaskId = `task-${this.now().getTime()}-${this.next()}` as TaskId;
    return this.lastTaskId;
  }

  accountId = () => `account-${this.next()}` as AccountId;
  orderId = () => `order-${this.next()}` as OrderId;
  apiKeyId = () => `key-${this.next()}` as ApiKeyId;
  apiKeySecret = () => `sk-${this.next()}` as ApiKeySecret;
  endpointId = () => `endpoint-${this.next()}` as EndpointId;
  endpointSecret = () => `whsec_${this.next()}` as EndpointSecret;
  slug = () => this.next().padStart(16, "a") as Slug;
  unguessable = () => this.next().padStart(22, "u");
  sessionToken = () => `session-${this.next()}` as SessionToken;
  passwordLinkToken = () => `link-${this.next()}` as PasswordLinkToken;

  private next(): string {
    this.counter.last += 1;
    return String(this.counter.last).padStart(4, "0");
  }
}
