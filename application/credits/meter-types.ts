import type { Result } from "neverthrow";
import type { Credits } from "../../domain/credits/credits.js";
import type { RefundTooHigh } from "../../domain/credits/hold.js";
import type { KeyReused } from "../../domain/credits/idempotency.js";
import type { LedgerCursor } from "../../domain/credits/ledger-page.js";
import type { EntryNotes, MeterEntry } from "../../domain/credits/meter-entry.js";
import type { Admission, RateLimited } from "../../domain/credits/rate-limit.js";
import type { InsufficientCredits, Reservation, TooManyActiveTasks } from "../../domain/credits/reservation.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import type { MeterLine } from "../ports/stores/meter-store.js";

/** Input of `Meter.hold`. */
export type HoldRequest<Price extends string, RateKind extends string> = EntryNotes & {
  readonly price: Price;
  /** Number of units, such as minutes or tokens: an integer from 1. Default: 1. */
  readonly quantity?: number | undefined;
  /** Counts the call as a request of this kind. Default: the call is not rate-limited. */
  readonly rate?: RateKind | undefined;
  /**
   * A repeated call with this key returns the first hold: for `idempotencyHours`, and longer while it is `held`. 1 to
   * 255 visible ASCII characters.
   */
  readonly idempotencyKey?: string | undefined;
  /** Part of the request besides price and quantity, such as a hash of the body. Another one is `key_reused`. */
  readonly fingerprint?: string | undefined;
};

/** A refused call costs no credits; it counts as a request unless it is `rate_limited`. */
export type HoldRefusal = RateLimited | KeyReused | InsufficientCredits | TooManyActiveTasks;

/** The hold was already captured or refunded, or its lease ended (`refunded`). Nothing was changed. */
export type AlreadyResolved = { readonly kind: "already_resolved"; readonly as: "captured" | "refunded" };

/**
 * Credits that are set aside for one task. The methods work in any process, and may be called again after a lost
 * answer.
 */
export type TaskHold = EntryNotes & {
  readonly taskId: TaskId;
  readonly credits: Credits;
  /** State at the time of the call. Start the work only if `held`. */
  readonly state: Reservation["state"];
  /** Cost of the task at the time of the call: captured credits that were not refunded. */
  readonly spent: Credits;
  /** End of the lease: an open hold is then refunded. */
  readonly expiresAt: Date;
  /** True if an earlier call with the same key made this hold. */
  readonly replayed: boolean;
  /**
   * Spends the credits: all, or the given part; the rest is refunded. A repeat changes nothing, and with another part
   * it is refused. Throws if the part is more than the held credits.
   */
  capture(part?: { readonly credits: number }): Promise<Result<void, AlreadyResolved>>;
  /** Returns the credits of a failed task to the account. A repeat changes nothing. */
  refund(): Promise<Result<void, AlreadyResolved>>;
  /** Extends the lease of longer work to `holdSeconds` from now. Returns its new end. */
  renew(): Promise<Result<Date, AlreadyResolved>>;
};

/** A refund of captured credits. */
export type MeterRefund = {
  readonly taskId: string;
  /** Default: the captured credits that are not refunded yet. */
  readonly credits?: number | undefined;
  /** Reason: 1 to 200 characters. */
  readonly reason: string;
  /** A repeated call with the same key changes nothing. The key is stored for ever. */
  readonly idempotencyKey: string;
  readonly metadata?: EntryNotes["metadata"];
};

/** The task has no captured credits: it is `held`, was `refunded` without a capture, or is `unknown`. */
export type NotCaptured = { readonly kind: "not_captured"; readonly state: "held" | "refunded" | "unknown" };

/** A change of an account's credits by the operator. */
export type Adjustment = {
  /** An integer, negative to take credits. */
  readonly credits: number;
  /** Reason: 1 to 200 characters. */
  readonly reason: string;
  /** A repeated call with the same key changes nothing. The key is stored for ever. */
  readonly idempotencyKey: string;
  /** Allows a negative balance. Default: false. */
  readonly allowDebt?: boolean | undefined;
  readonly metadata?: EntryNotes["metadata"];
};

/**
 * An event of a meter, for logs and metrics. It is reported after the change; in a transaction of the caller, before
 * the commit.
 */
export type MeterEvent =
  | { readonly kind: "entry"; readonly entry: MeterEntry }
  /** A hold was neither ended nor renewed in time: the process that worked on its task has died, or is late. */
  | { readonly kind: "lease_ended"; readonly accountId: AccountId; readonly taskId: TaskId; readonly credits: Credits }
  | { readonly kind: "refused"; readonly accountId: AccountId; readonly refusal: HoldRefusal };

/** Receives meter events. Its errors are ignored: the change is already stored. */
export type MeterReporter = { report(event: MeterEvent): void };

/**
 * Credits, limits and idempotency of a product. `Price` and `RateKind`: the names of its policy's prices and rate
 * limits. An account is 1 to 40 of the characters A-Z, a-z, 0-9, _ and -, and exists from its first write on. Throws a
 * `RangeError` for an invalid account, fractional credits, or a name that the policy does not have.
 */
export type Meter<Price extends string, RateKind extends string> = {
  /**
   * Reserves the price of a task, and counts it as one of the account's at most `activeMax` open holds. Checks the
   * rate, the idempotency key, the credits and the active tasks, in this order.
   */
  hold(account: string, request: HoldRequest<Price, RateKind>): Promise<Result<TaskHold, HoldRefusal>>;
  /** The hold of this task, for example to end it in another process; `undefined` if the account has none. */
  find(account: string, taskId: string): Promise<TaskHold | undefined>;
  /** The holds that are neither captured nor refunded, oldest first. */
  openHolds(account: string): Promise<readonly TaskHold[]>;
  /** Applies the rate limit to a request that costs no credits. A refused request is not counted. */
  admit(account: string, rate: RateKind): Promise<Result<Omit<Admission, "log">, RateLimited>>;
  /**
   * Adds the credits of an order, once per `orderId`, and returns the balance. Gifts need an order id too: 1 to 40 of
   * the characters A-Z, a-z, 0-9, _ and -. Throws if the id was used for another amount, a refund or an adjustment.
   */
  purchase(
    account: string,
    order: EntryNotes & { readonly orderId: string; readonly credits: number },
  ): Promise<number>;
  /** Refunds captured credits of a task, at most those not refunded yet. The result is the new balance. */
  refund(account: string, refund: MeterRefund): Promise<Result<number, NotCaptured | RefundTooHigh | KeyReused>>;
  /** Gives or takes credits, and returns the balance. Without `allowDebt`, refuses to take more than the balance. */
  adjust(account: string, adjustment: Adjustment): Promise<Result<number, InsufficientCredits | KeyReused>>;
  /** The credits that are neither reserved nor spent: the sum of the ledger. Negative if the account is in debt. */
  balance(account: string): Promise<number>;
  /**
   * Entries, newest first. `limit`: an integer from 1, by default 100. Pass the last line's `cursor` as `before` to get
   * the next page.
   */
  ledger(
    account: string,
    page?: { readonly limit?: number; readonly before?: LedgerCursor | undefined },
  ): Promise<readonly MeterLine[]>;
};

/** A meter whose store can work in a transaction of the caller. */
export type JoiningMeter<Price extends string, RateKind extends string, Connection> = Meter<Price, RateKind> & {
  /**
   * The same meter in the open transaction of this connection: the caller's commit or rollback includes its changes,
   * and those of the holds that it returns. The first change locks the account until the transaction ends.
   */
  within(connection: Connection): Meter<Price, RateKind>;
};
