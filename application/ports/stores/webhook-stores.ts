import type { Result } from "neverthrow";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { KeyValidity } from "../../../domain/accounts/key-limits.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { AccountEvent } from "../../../domain/tasks/account-event.js";
import type { Task } from "../../../domain/tasks/task.js";
import type { DueDelivery } from "../../../domain/webhooks/share-slots.js";
import type { AttemptResult, Delivery, PendingDelivery } from "../../../domain/webhooks/webhook-delivery.js";
import type { Endpoint, EndpointId, EndpointSecret, OffReason } from "../../../domain/webhooks/webhook-endpoint.js";
import type { Receiver } from "../../../domain/webhooks/webhook-receiver.js";
import type { NotFound } from "../../errors.js";
import type { Access, AccessRefused } from "./access.js";

/** An event with its task as it is now; `undefined` for an event that is not about a task. */
export type StoredEvent = { readonly event: AccountEvent; readonly task: Task | undefined };

/** Latest event numbers and usable API keys, for the open streams of a process. */
export type WatchedStreams = {
  readonly latest: ReadonlyMap<AccountId, number>;
  readonly liveKeys: ReadonlyMap<ApiKeyId, KeyValidity>;
};

/** Reads the events of accounts. The task store writes them. Throws if the store is unreachable. */
export interface EventStore {
  /**
   * The next `limit` events of the account after the number `after`; with `task`, only events of this task. Omits
   * events of deleted tasks and of tasks that this version cannot read. A shorter page is the last one. The cost is
   * proportional to the result.
   */
  after(account: AccountId, after: number, limit: number, task?: TaskId): Promise<StoredEvent[]>;
  /** The number of the latest event of each account; 0 for an account without one. */
  latest(accounts: readonly AccountId[]): Promise<ReadonlyMap<AccountId, number>>;
  /** `latest`, and the limits of the live keys among `keys`, in one round trip. */
  watch(accounts: readonly AccountId[], keys: readonly ApiKeyId[]): Promise<WatchedStreams>;
}

/**
 * Stores the endpoints of accounts. An endpoint of another account and a deleted one give the same error as an unknown
 * id. Throws if the store is unreachable or a row is unreadable.
 */
export interface EndpointStore {
  /**
   * Inserts the endpoint if `decide` allows it. `decide` gets the URLs of the account's endpoints, under a lock of the
   * account. Refuses a closed account, and an `access` that has ended. Throws if the account does not exist.
   */
  insert<Refusal>(
    endpoint: Endpoint,
    decide: (urls: readonly string[]) => Result<void, Refusal>,
    access?: Access,
  ): Promise<Result<void, Refusal | AccessRefused>>;
  /** Returns the account's default endpoint. If there is none, inserts `candidate`, but not for a closed account. */
  ensureDefault(candidate: Endpoint): Promise<Endpoint>;
  /** The account's endpoints, oldest first, including disabled ones. */
  list(account: AccountId): Promise<Endpoint[]>;
  /** Sets the endpoint's secret. The previous secret stays valid until `previousUntil`. Returns the endpoint. */
  rotateSecret(
    id: EndpointId,
    account: AccountId,
    secret: EndpointSecret,
    previousUntil: Date,
  ): Promise<Result<Endpoint, NotFound>>;
  /** Switches an endpoint on again, for later events only. Does nothing if it is on. */
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
  /** Receiver of the delivery: the endpoint, or for the URL of a single task, account and origin. */
  readonly lane: string;
  /** Scheme, host and port of `url`. */
  readonly origin: string;
  /** State of the receiver before the claim. */
  readonly receiver: Receiver;
  readonly delivery: PendingDelivery;
  readonly event: AccountEvent;
  /** The task of the event as it is now; `undefined` for an event that is not about a task. */
  readonly task: Task | undefined;
  readonly url: string;
  /** May be switched off or deleted. */
  readonly endpoint: Endpoint;
};

/** Deliveries that `claim` leases. */
export type DeliveryClaim = {
  readonly now: Date;
  /** The end of the leases. */
  readonly until: Date;
  /** Maximum number of candidates for `choose`: round robin over accounts, then by due time. */
  readonly limit: number;
  /** Maximum number of candidates per lane. */
  readonly laneLimit: number;
  /** Lanes to skip. */
  readonly busyLanes: readonly string[];
  /** Selects the deliveries to lease. May also get deliveries that another caller leases at the same time. */
  readonly choose: (due: readonly DueDelivery[]) => readonly DueDelivery[];
};

/** Result of an attempt. */
export type AttemptOutcome = {
  readonly delivery: Delivery;
  readonly receiver: Receiver;
  /** Earliest time for another unverified lane at the origin of the lease. */
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
   * Leases due deliveries that `choose` returns, each to exactly one caller:
   * - the events of a task stay in order in each lane
   * - a lane waits for its receiver's `nextAt`, an unverified lane also for its origin
   * - a probed lane (domain/webhooks/webhook-receiver.ts), and an origin with an unverified lane, have one lease at a
   *   time
   * A lease that is not recorded before `until` becomes due again; nobody else ends it.
   */
  claim(claim: DeliveryClaim): Promise<DeliveryLease[]>;

  /**
   * Stores the receiver and, unless it was claimed again, the delivery. A delivery that was resent meanwhile stays
   * pending, and its lane does not wait. The endpoint is failing since the first failure after its last success.
   */
  record(lease: DeliveryLease, next: AttemptOutcome, result: AttemptResult, now: Date): Promise<void>;

  /**
   * Switches the endpoint off and gives up its pending deliveries. With the reason `failing`, only if it has been
   * failing since `failingSince` or longer. Returns true if this call has switched it off.
   */
  switchOff(endpoint: Endpoint, reason: OffReason, now: Date, failingSince: Date): Promise<boolean>;

  /** The account's deliveries, newest first, at most `limit`, older than `before`. */
  list(account: AccountId, limit: number, before: DeliveryId | undefined): Promise<ListedDelivery[]>;

  /** The deliveries of the events of a task of the account, oldest first. */
  ofTask(account: AccountId, task: TaskId): Promise<ListedDelivery[]>;

  /**
   * Makes a delivery of the account pending and due `now`, even a delivered one. Its event keeps its id. Its lane stops
   * waiting, because somebody may have repaired the receiver. A running attempt continues, and the next one follows it.
   */
  resend(id: DeliveryId, account: AccountId, now: Date): Promise<Result<void, NotFound | EndpointOff>>;

  /** After the clock was set back: resets times of deliveries and receivers after `latest` to `dueAt`. */
  bringForward(latest: Date, dueAt: Date): Promise<void>;

  /**
   * Deletes up to `limit` events from before `before` with their deliveries, and receivers unchanged since then. Erases
   * the `webhookUrl` of failed and deleted tasks without events. Returns the number of events.
   */
  deleteEvents(before: Date, limit: number): Promise<number>;
}
