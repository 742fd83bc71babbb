import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account-id.js";
import type { TooManyActiveTasks } from "../../domain/credits/concurrency-limit.js";
import { type Credits, credits } from "../../domain/credits/credits.js";
import { type Expiry, expireHolds, type Hold, type OpenHold } from "../../domain/credits/hold.js";
import { type IdempotencyKey, type IdempotentRequest, sameRequest } from "../../domain/credits/idempotency.js";
import { type LedgerCursor, type LedgerEntry, refundEntry, reservationEntry } from "../../domain/credits/ledger.js";
import type { OrderId } from "../../domain/credits/order.js";
import type { Policy } from "../../domain/credits/policy.js";
import { type Admission, type AdmissionLog, admitRequest, type RateLimited } from "../../domain/credits/rate-limit.js";
import { capture, type InsufficientCredits, type Reservation, refund } from "../../domain/credits/reservation.js";
import { release, reserve } from "../../domain/credits/reserve.js";
import type { Standing } from "../../domain/credits/standing.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { TaskId } from "../../domain/task-id.js";
import type { LedgerLine } from "../ports/stores/ledger-store.js";
import type { MeterChange, MeterQuery, MeterRecord, MeterStore } from "../ports/stores/meter-store.js";

/** What is to be paid for, and how it is limited. */
export type HoldRequest<Price extends string, RateKind extends string> = {
  readonly price: Price;
  /** Counts the call as a request of this kind; without it, no rate limits the call. */
  readonly rate?: RateKind | undefined;
  /** Makes a repeated call return the hold of the first one. */
  readonly idempotencyKey?: IdempotencyKey | undefined;
  /** What else belongs to the request of the idempotency key, such as a hash of its body. The price always does. */
  readonly fingerprint?: string | undefined;
};

/**
 * `invalid_request`: the idempotency key belongs to another request. The others are the refusals of the domain. A
 * refused call costs no credits; it counts as a request unless it is `rate_limited`.
 */
export type HoldRefusal = RateLimited | InvalidRequest | InsufficientCredits | TooManyActiveTasks;

/** The hold has ended in the other way, by a call, or because its lease had ended (`refunded`). Nothing was changed. */
export type AlreadyResolved = { readonly kind: "already_resolved"; readonly as: "captured" | "refunded" };

/** Credits that are set aside for one task. Its methods may be called in any process, and again after a lost answer. */
export type TaskHold = {
  readonly taskId: TaskId;
  readonly credits: Credits;
  /** When the call returned. Only work on a task that is `held`: others have ended before. */
  readonly state: Reservation["state"];
  /** From then on it is refunded, unless it was captured or renewed before. */
  readonly expiresAt: Date;
  /** The idempotency key belongs to this hold of an earlier call: nothing was reserved again. */
  readonly replayed: boolean;
  /** The task succeeded: its credits are spent. Repeated, it changes nothing. */
  capture(): Promise<Result<void, AlreadyResolved>>;
  /** The task failed: its credits return to the account. Repeated, it changes nothing. */
  refund(): Promise<Result<void, AlreadyResolved>>;
  /** The work takes longer: the lease ends `holdSeconds` from now. Returns when. */
  renew(): Promise<Result<Date, AlreadyResolved>>;
};

/** Credits, limits and idempotency of a product; `Price` and `RateKind` are the names in its policy. */
export type Meter<Price extends string, RateKind extends string> = {
  /**
   * Reserves the price of a task and a slot of the account. Checks the rate, the idempotency key, the credits and the
   * active tasks, in this order.
   */
  hold(account: AccountId, request: HoldRequest<Price, RateKind>): Promise<Result<TaskHold, HoldRefusal>>;
  /** The hold of this task, for example to end it in another process; `undefined` if the account has none. */
  find(account: AccountId, taskId: TaskId): Promise<TaskHold | undefined>;
  /** Counts a request that costs nothing, or rejects it without counting it. */
  admit(account: AccountId, rate: RateKind): Promise<Result<Omit<Admission, "log">, RateLimited>>;
  /**
   * Gives the account the credits of an order, once, however often it is called, and returns the balance. Credits that
   * are a gift have an order id, too. Throws if this order was credited with another amount.
   */
  purchase(account: AccountId, order: { readonly orderId: OrderId; readonly credits: Credits }): Promise<Credits>;
  /** The credits that are neither reserved nor spent: the sum of the ledger. */
  balance(account: AccountId): Promise<Credits>;
  /** Newest entry first; the default limit is 100. The `cursor` of the last line is the `before` of the next page. */
  ledger(
    account: AccountId,
    page?: { readonly limit?: number; readonly before?: LedgerCursor | undefined },
  ): Promise<readonly LedgerLine[]>;
};

/** What a decision changes; what is left out stays. */
type Effect = {
  readonly standing?: Standing;
  readonly holds?: readonly Hold[];
  readonly entries?: readonly LedgerEntry[];
  readonly log?: AdmissionLog | undefined;
};

type Decision<Answer> = Effect & { readonly answer: Answer };

const LEDGER_PAGE = 100;

type Parts<Price extends string, RateKind extends string> = {
  readonly policy: Policy<Price, RateKind>;
  readonly store: MeterStore;
};

/**
 * Credits, limits and idempotency for a product of any kind, by its policy. Leases of holds that have ended are
 * refunded by whatever call comes next for their account, so that no background work is needed.
 */
export const meter = <Price extends string, RateKind extends string>(
  parts: Parts<Price, RateKind>,
): Meter<Price, RateKind> => {
  const { policy, store } = parts;
  return {
    hold: (account, request) => hold(parts, account, request),
    find: (account, taskId) =>
      change(store, account, { taskId }, (_, { hold }) => ({
        answer: hold && handleOf({ store, account, policy }, hold, false),
      })),
    admit: (account, rate) => admit(parts, account, rate),
    purchase: (account, order) =>
      change(store, account, { orderId: order.orderId }, ({ standing }, record) =>
        purchase(account, order, standing, record),
      ),
    balance: (account) => change(store, account, {}, ({ standing }) => ({ answer: standing.credits })),
    ledger: async (account, { limit = LEDGER_PAGE, before } = {}) => {
      await change(store, account, {}, () => ({ answer: undefined }));
      return store.entries(account, limit, before);
    },
  };
};

/** Ends the leases of the account that are over, and then decides. */
const change = async <Answer>(
  store: MeterStore,
  account: AccountId,
  query: MeterQuery,
  decide: (expiry: Expiry, record: MeterRecord) => Decision<Answer>,
): Promise<Answer> =>
  store.change(account, query, (record) => {
    const expiry = expireHolds(account, record, record.now);
    const { answer, ...effect } = decide(expiry, withExpired(record, expiry));
    return { change: changeOf(expiry, effect), answer };
  });

const hold = <Price extends string, RateKind extends string>(
  { policy, store }: Parts<Price, RateKind>,
  account: AccountId,
  { price, rate, idempotencyKey, fingerprint }: HoldRequest<Price, RateKind>,
): Promise<Result<TaskHold, HoldRefusal>> => {
  const holder = { store, account, policy };
  const idempotent: IdempotentRequest | undefined = idempotencyKey && {
    key: idempotencyKey,
    requestSha256: JSON.stringify([price, fingerprint ?? null]),
  };
  return change<Result<TaskHold, HoldRefusal>>(store, account, { rate, idempotencyKey }, ({ standing }, record) => {
    const { now, newTaskId: taskId, hold: known } = record;
    const admitted = rate === undefined ? undefined : admitRequest(record.log, policy.rates[rate], now.getTime());
    if (admitted?.isErr()) return { answer: err(admitted.error) };
    const log = admitted?.isOk() ? admitted.value.log : undefined;
    if (idempotent !== undefined && known?.idempotent !== undefined && isRemembered(known, policy, now)) {
      const same = sameRequest(known.idempotent.requestSha256, idempotent, policy.idempotencyHours);
      return { log, answer: same.map(() => handleOf(holder, known, true)) };
    }
    const reserved = reserve(standing, { taskId, cost: policy.prices[price] }, policy.activeMax);
    if (reserved.isErr()) return { log, answer: err(reserved.error) };
    const { reservation, standing: after } = reserved.value;
    const opened: OpenHold = { reservation, heldAt: now, expiresAt: leaseFrom(now, policy), idempotent };
    const entries = [reservationEntry(reservation, now)];
    return { log, standing: after, holds: [opened], entries, answer: ok(handleOf(holder, opened, false)) };
  });
};

const admit = <Price extends string, RateKind extends string>(
  { policy, store }: Parts<Price, RateKind>,
  account: AccountId,
  rate: RateKind,
): Promise<Result<Omit<Admission, "log">, RateLimited>> =>
  change<Result<Omit<Admission, "log">, RateLimited>>(store, account, { rate }, (_, { log: before, now }) => {
    const admitted = admitRequest(before, policy.rates[rate], now.getTime());
    if (admitted.isErr()) return { answer: err(admitted.error) };
    const { log, ...admission } = admitted.value;
    return { log, answer: ok(admission) };
  });

const purchase = (
  account: AccountId,
  { orderId, credits: amount }: { readonly orderId: OrderId; readonly credits: Credits },
  standing: Standing,
  { purchased, now: at }: MeterRecord,
): Decision<Credits> => {
  if (purchased !== undefined && purchased !== amount) {
    throw new Error(`The order ${orderId} was credited with ${purchased} credits, and now with ${amount}.`);
  }
  if (purchased !== undefined) return { answer: standing.credits };
  const balance = credits(standing.credits + amount);
  const entries = [{ kind: "purchase", accountId: account, orderId, credits: amount, at } as const];
  return { standing: { ...standing, credits: balance }, entries, answer: balance };
};

type Times = Pick<Policy<string, string>, "holdSeconds" | "idempotencyHours">;

const leaseFrom = (now: Date, { holdSeconds }: Times): Date => new Date(now.getTime() + holdSeconds * 1000);

const isRemembered = ({ heldAt }: Hold, { idempotencyHours }: Times, now: Date): boolean =>
  now.getTime() - heldAt.getTime() < idempotencyHours * 3_600_000;

/** Whose hold it is, and how long it lasts. */
type Holder = { readonly store: MeterStore; readonly account: AccountId; readonly policy: Times };

const handleOf = (holder: Holder, { reservation, expiresAt }: Hold, replayed: boolean): TaskHold => {
  const { taskId, credits, state } = reservation;
  return {
    taskId,
    credits,
    state,
    expiresAt,
    replayed,
    capture: () => captureHold(holder, taskId),
    refund: () => refundHold(holder, taskId),
    renew: () => renewHold(holder, taskId),
  };
};

const captureHold = (holder: Holder, taskId: TaskId): Promise<Result<void, AlreadyResolved>> =>
  changeHold<void>(
    holder,
    taskId,
    (hold, { standing }) => {
      const captured = capture(hold.reservation);
      return { standing: release(standing, captured), holds: [{ ...hold, reservation: captured }], value: undefined };
    },
    (ended) => (ended === "refunded" ? err({ kind: "already_resolved", as: ended }) : ok(undefined)),
  );

const refundHold = (holder: Holder, taskId: TaskId): Promise<Result<void, AlreadyResolved>> =>
  changeHold<void>(
    holder,
    taskId,
    (hold, { standing }, now) => {
      const refunded = refund(hold.reservation);
      const [holds, entries] = [[{ ...hold, reservation: refunded }], [refundEntry(refunded, now)]];
      return { standing: release(standing, refunded), holds, entries, value: undefined };
    },
    (ended) => (ended === "captured" ? err({ kind: "already_resolved", as: ended }) : ok(undefined)),
  );

const renewHold = (holder: Holder, taskId: TaskId): Promise<Result<Date, AlreadyResolved>> =>
  changeHold<Date>(
    holder,
    taskId,
    (hold, _, now) => {
      const renewed = { ...hold, expiresAt: leaseFrom(now, holder.policy) };
      return { holds: [renewed], value: renewed.expiresAt };
    },
    (ended) => err({ kind: "already_resolved", as: ended === "captured" ? ended : "refunded" }),
  );

/** Ends or renews a hold, unless it has ended. */
const changeHold = <Value>(
  { store, account }: Holder,
  taskId: TaskId,
  next: (hold: OpenHold, expiry: Expiry, now: Date) => Effect & { readonly value: Value },
  repeated: (state: Reservation["state"]) => Result<Value, AlreadyResolved>,
): Promise<Result<Value, AlreadyResolved>> =>
  change<Result<Value, AlreadyResolved>>(store, account, { taskId }, (expiry, { hold, now }) => {
    const open = expiry.open.find(({ reservation }) => reservation.taskId === taskId);
    if (open !== undefined) {
      const { value, ...effect } = next(open, expiry, now);
      return { ...effect, answer: ok(value) };
    }
    if (hold === undefined) throw new Error(`The store has lost the hold ${taskId} of the account ${account}.`);
    return { answer: repeated(hold.reservation.state) };
  });

/** The record with the hold as it is after the end of its lease. */
const withExpired = (record: MeterRecord, { refunded }: Expiry): MeterRecord => {
  const { hold } = record;
  if (hold === undefined) return record;
  const expired = refunded.find(({ reservation }) => reservation.taskId === hold.reservation.taskId);
  return expired === undefined ? record : { ...record, hold: expired };
};

/** `undefined` if nothing changes. A hold that was refunded because of its lease is never changed by the decision. */
const changeOf = (expiry: Expiry, { standing, holds = [], entries = [], log }: Effect): MeterChange | undefined => {
  if (standing === undefined && holds.length === 0 && log === undefined && expiry.refunded.length === 0) {
    return undefined;
  }
  return {
    credits: (standing ?? expiry.standing).credits,
    holds: [...expiry.refunded, ...holds],
    entries: [...expiry.entries, ...entries],
    log,
  };
};
