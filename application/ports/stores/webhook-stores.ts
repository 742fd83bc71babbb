import type { Result } from "neverthrow";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { KeyUse } from "../../../domain/accounts/key-limits.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { AccountEvent } from "../../../domain/tasks/account-event.js";
import type { Task } from "../../../domain/tasks/task.js";
import type { DueDelivery } from "../../../domain/webhooks/share-slots.js";
import type { AttemptResult, Delivery, PendingDelivery } from "../../../domain/webhooks/webhook-delivery.js";
import type { Endpoint, EndpointId, EndpointSecret, OffReason } from "../../../domain/webhooks/webhook-endpoint.js";
import type { Receiver } from "../../../domain/webhooks/webhook-receiver.js";
import type { NotFound } from "../../errors.js";

/** An event with its task as it is now; `undefined` for an event that is not about a task. */
export type StoredEvent = { readonly event: AccountEvent; readonly task: Task | undefined };

/** What the streams of a process wait for: events of accounts, and the end of API keys. */
export type WatchedStreams = {
  readonly latest: ReadonlyMap<AccountId, number>;
  readonly liveKeys: ReadonlyMap<ApiKeyId, KeyUse>;
};

/** Reads the events of accounts. The task store writes them. Throws if the store is unreachable. */
export interface EventStore {
  /**
   * Up to `limit` events of the account with a greater number than `after`, in their order; with `task`, only those of
   * this task. Leaves out events of tasks that are hidden or that this version cannot read. Fewer than `limit` only if
   * there are no more. Its cost depends on the events that it returns, not on those that the account has.
   */
  after(account: AccountId, after: number, limit: number, task?: TaskId): Promise<StoredEvent[]>;
  /** The number of the latest event of each account; 0 for an account without one. */
  latest(accounts: readonly AccountId[]): Promise<Map<AccountId, number>>;
  /** In one round trip what `latest` returns, and the limits of those of the keys that exist and are not revoked. */
  watch(accounts: readonly AccountId[], keys: readonly ApiKeyId[]): Promise<WatchedStreams>;
}

/**
 * Stores the endpoints of accounts. An endpoint of another account and a deleted one give the same error as an unknown
 * id. Throws if the store is unreachable or a row is unreadable.
 */
export interface EndpointStore {
  /**
   * Inserts the endpoint if `decide` allows it, given the URLs of the account's endpoints. The account is locked, so
   * that concurrent endpoints are seen. Throws if the account does not exist.
   */
  insert<Refusal>(
    endpoint: Endpoint,
    decide: (urls: readonly string[]) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal>>;
  /** Returns the account's default endpoint. Inserts `candidate` as that if there is none. */
  ensureDefault(candidate: Endpoint): Promise<Endpoint>;
  /** The account's endpoints, oldest first, also those that are switched off. */
  list(account: AccountId): Promise<Endpoint[]>;
  /** Makes `secret` the endpoint's secret. The one before stays valid until `previousUntil`. Returns the endpoint. */
  rotateSecret(
    id: EndpointId,
    account: AccountId,
    secret: EndpointSecret,
    previousUntil: Date,
  ): Promise<Result<Endpoint, NotFound>>;
  /** Switches an endpoint on again. Does nothing if it is on. */
  enable(id: EndpointId, account: AccountId): Promise<Result<void, NotFound>>;
  /** Deletes an endpoint with a URL, and gives up its pending deliveries. */
  delete(id: EndpointId, account: AccountId, now: Date): Promise<Result<void, NotFound>>;
}

/** Identifies a delivery: the number of its row. */
export type DeliveryId = number;

/** The right to attempt a delivery until the lease expires. Each claim increments `fence`. */
export type DeliveryLease = {
  readonly id: DeliveryId;
  readonly fence: number;
  /**
   * Deliveries with the same lane go to the same place: the endpoint, or for the URLs of single tasks, account and
   * origin.
   */
  readonly lane: string;
  /** Scheme, host and port of `url`. */
  readonly origin: string;
  /** How the latest webhooks of the lane went, as it was before the claim. */
  readonly receiver: Receiver;
  readonly delivery: PendingDelivery;
  readonly event: AccountEvent;
  /** The task of the event as it is now; `undefined` for an event that is not about a task. */
  readonly task: Task | undefined;
  readonly url: string;
  /** May have been switched off or deleted at the moment of the event. */
  readonly endpoint: Endpoint;
};

/** Which deliveries `claim` leases. */
export type DeliveryClaim = {
  readonly now: Date;
  /** The end of the leases. */
  readonly until: Date;
  /** The most deliveries that `choose` gets: in turns of the accounts, then in the order in which they are due. */
  readonly limit: number;
  /** The most deliveries of one lane that `choose` gets. */
  readonly laneLimit: number;
  /** `choose` gets none of these lanes. */
  readonly busyLanes: readonly string[];
  /** Returns those that are leased. May be called for deliveries that another caller leases in the meantime. */
  readonly choose: (due: readonly DueDelivery[]) => readonly DueDelivery[];
};

/** What is stored after an attempt. */
export type AttemptOutcome = {
  readonly delivery: Delivery;
  readonly receiver: Receiver;
  /** When the next unverified lane with the origin of the lease may be tried. */
  readonly originFreeAt: Date;
};

/** A delivery with its event, as the account sees it. */
export type ListedDelivery = {
  readonly id: DeliveryId;
  readonly delivery: Delivery;
  readonly event: AccountEvent;
  readonly url: string;
};

/** The endpoint is switched off, so nothing can be sent to it. */
export type EndpointOff = { readonly kind: "endpoint_off" };

/**
 * Stores deliveries of events. The task store writes them in the transaction that moves the task: one for each endpoint
 * that is on, and one for the task's own `webhook_url`.
 */
export interface DeliveryStore {
  /**
   * Leases deliveries that are due and that `choose` returns. Each goes to exactly one caller. An event of a task is
   * not claimed while an earlier event of this task is pending in the same lane. Nothing of a lane is claimed before
   * its receiver's `nextAt`, and nothing of an unverified lane before its origin is free. A lane that is probed
   * (domain/webhooks/webhook-receiver.ts), and an origin with an unverified lane, have one lease at a time. Nobody else
   * ends a lease: unless `record` uses it before `until`, the delivery is due again then.
   */
  claim(claim: DeliveryClaim): Promise<DeliveryLease[]>;

  /**
   * Stores the delivery after an attempt, unless it was claimed again, and the receiver. A delivery that was sent again
   * meanwhile stays pending, and its lane does not wait. The endpoint is failing since the first failure after its last
   * success.
   */
  record(lease: DeliveryLease, next: AttemptOutcome, result: AttemptResult, now: Date): Promise<void>;

  /**
   * Switches the endpoint off and gives up its pending deliveries. With the reason `failing`, only if it has been
   * failing since `failingSince` or longer. Returns whether this call has switched it off.
   */
  switchOff(endpoint: Endpoint, reason: OffReason, now: Date, failingSince: Date): Promise<boolean>;

  /** The account's deliveries, newest first, at most `limit`, older than `before`. */
  list(account: AccountId, limit: number, before: DeliveryId | undefined): Promise<ListedDelivery[]>;

  /** The deliveries of the events of a task of the account, oldest first. */
  ofTask(account: AccountId, task: TaskId): Promise<ListedDelivery[]>;

  /**
   * Makes a delivery of the account pending and due `now`, also one that was delivered. Its event keeps its id. Its
   * lane does not wait any longer, because somebody may have repaired the receiver. An attempt that is under way goes
   * on, and the next one follows it.
   */
  resend(id: DeliveryId, account: AccountId, now: Date): Promise<Result<void, NotFound | EndpointOff>>;

  /**
   * Makes every delivery and receiver that waits until after `latest` wait until `dueAt`: after a clock was set back.
   */
  bringForward(latest: Date, dueAt: Date): Promise<void>;

  /**
   * Deletes up to `limit` events from before `before` with their deliveries, and receivers whose state has not changed
   * since. Erases the `webhookUrl` of failed and hidden tasks of which no event is left. Returns the number of events.
   */
  deleteEvents(before: Date, limit: number): Promise<number>;
}
