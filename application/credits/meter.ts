import { err, ok, type Result } from "neverthrow";
import { type Credits, credits } from "../../domain/credits/credits.js";
import {
  balanceAfter,
  captureHold,
  type Expiry,
  expireHolds,
  type Hold,
  type OpenHold,
  type RefundTooHigh,
  refundCaptured,
  refundHold,
  spentOn,
  standingOf,
} from "../../domain/credits/hold.js";
import { idempotencyKey, type KeyReused } from "../../domain/credits/idempotency.js";
import { reservationEntry } from "../../domain/credits/ledger.js";
import type { LedgerCursor } from "../../domain/credits/ledger-page.js";
import { type EntryNotes, entryNotes, entryReason, type MeterEntry } from "../../domain/credits/meter-entry.js";
import { orderId } from "../../domain/credits/order.js";
import { costOf, type Policy, rateOf } from "../../domain/credits/policy.js";
import { type Admission, type AdmissionLog, admitRequest, type RateLimited } from "../../domain/credits/rate-limit.js";
import {
  type InsufficientCredits,
  type Reservation,
  reserve,
  type TooManyActiveTasks,
} from "../../domain/credits/reservation.js";
import { type AccountId, accountId, parseTaskId, type TaskId } from "../../domain/ids.js";
import type {
  JoiningMeterStore,
  MeterChange,
  MeterLine,
  MeterQuery,
  MeterRecord,
  MeterStore,
} from "../ports/stores/meter-store.js";

/** Input of `Meter.hold`. */
export type HoldRequest<Price extends string, RateKind extends string> = EntryNotes & {
  readonly price: Price;
  /** Number of units, such as minutes or tokens: an integer from 1. Default: 1. */
  readonly quantity?: number | undefined;
  /** Counts the call as a request of this kind. Default: no rate limits the call. */
  readonly rate?: RateKind | undefined;
  /**
   * A repeated call with this key returns the first hold: for `idempotencyHours`, and longer while it is `held`. 1 to
   * 255 visible ASCII characters.
   */
  readonly idempotencyKey?: string | undefined;
  /** Distinguishes requests beyond price and quantity, such as a hash of the body. */
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
export type CapturedRefund = {
  readonly taskId: string;
  /** Default: the whole cost of the task. */
  readonly credits?: number | undefined;
  /** Reason: 1 to 200 characters. */
  readonly reason: string;
  /** A repeated call with the same key changes nothing. The key is stored for ever. */
  readonly idempotencyKey: string;
  readonly metadata?: EntryNotes["metadata"];
};

/** There are no captured credits to refund: the task is `held`, fully `refunded`, or `unknown`. */
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
 * Credits, limits and idempotency of a product. `Price` and `RateKind` are the names in its policy. An account is 1 to
 * 40 of the characters A-Z, a-z, 0-9, _ and -, and exists from its first write on. Throws a `RangeError` for an invalid
 * account, fractional credits, or a name that the policy does not have.
 */
export type Meter<Price extends string, RateKind extends string> = {
  /**
   * Reserves the price of a task and a slot of the account. Checks the rate, the idempotency key, the credits and the
   * active tasks, in this order.
   */
  hold(account: string, request: HoldRequest<Price, RateKind>): Promise<Result<TaskHold, HoldRefusal>>;
  /** The hold of this task, for example to end it in another process; `undefined` if the account has none. */
  find(account: string, taskId: string): Promise<TaskHold | undefined>;
  /** The holds that are neither captured nor refunded, oldest first. */
  openHolds(account: string): Promise<readonly TaskHold[]>;
  /** Applies the rate limit to a free request. Rejected requests are not counted. */
  admit(account: string, rate: RateKind): Promise<Result<Omit<Admission, "log">, RateLimited>>;
  /**
   * Adds the credits of an order, once per `orderId`, and returns the balance. Gifts need an order id too: 1 to 40 of
   * the characters A-Z, a-z, 0-9, _ and -. Throws if the id was used for another amount, a refund or an adjustment.
   */
  purchase(
    account: string,
    order: EntryNotes & { readonly orderId: string; readonly credits: number },
  ): Promise<number>;
  /** Returns captured credits of a task to the account, at most the captured ones, and returns the balance. */
  refund(account: string, refund: CapturedRefund): Promise<Result<number, NotCaptured | RefundTooHigh | KeyReused>>;
  /** Gives credits to an account, or takes them, and returns the balance. Never below 0 without `allowDebt`. */
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
   * and those of the holds that it returns. Locks the account until then.
   */
  within(connection: Connection): Meter<Price, RateKind>;
};

type Parts<Price extends string, RateKind extends string> = {
  readonly policy: Policy<Price, RateKind>;
  readonly store: MeterStore;
  readonly reporter?: MeterReporter | undefined;
};

/**
 * Credits, limits and idempotency for a product of any kind, by its policy. The next call for an account refunds its
 * expired holds, so no background work is needed.
 */
export function meter<Price extends string, RateKind extends string, Connection>(
  parts: Parts<Price, RateKind> & { readonly store: JoiningMeterStore<Connection> },
): JoiningMeter<Price, RateKind, Connection>;
/** A meter without `within`. */
export function meter<Price extends string, RateKind extends string>(
  parts: Parts<Price, RateKind>,
): Meter<Price, RateKind>;
/** Implements both overloads. */
export function meter<Price extends string, RateKind extends string>(
  parts: Parts<Price, RateKind> & { readonly store: MeterStore | JoiningMeterStore<unknown> },
): Meter<Price, RateKind> | JoiningMeter<Price, RateKind, unknown> {
  const { store } = parts;
  if (!("within" in store)) return meterOn(parts);
  return { ...meterOn(parts), within: (connection) => meterOn({ ...parts, store: store.within(connection) }) };
}

const LEDGER_PAGE = 100;

const meterOn = <Price extends string, RateKind extends string>(
  parts: Parts<Price, RateKind>,
): Meter<Price, RateKind> => {
  const { store } = parts;
  const of = (account: string): Account => ({ ...parts, id: accountId(account) });
  return {
    hold: async (account, request) => hold(of(account), parts.policy, request),
    find: async (account, id) => {
      const taskId = parseTaskId(id);
      return taskId === undefined ? undefined : find(of(account), taskId);
    },
    openHolds: async (account) => {
      const { open } = await read(of(account));
      const oldestFirst = open.toSorted((a, b) => a.heldAt.getTime() - b.heldAt.getTime());
      return oldestFirst.map((hold) => handleOf(of(account), hold, false));
    },
    admit: async (account, rate) => admit(of(account), parts.policy, rate),
    purchase: async (account, order) => purchase(of(account), order),
    refund: async (account, refund) => refundLater(of(account), refund),
    adjust: async (account, adjustment) => adjust(of(account), adjustment),
    balance: async (account) => (await read(of(account))).credits,
    ledger: async (account, { limit = LEDGER_PAGE, before } = {}) => {
      if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError(`A page cannot have ${limit} entries.`);
      const { refunded } = await read(of(account));
      if (refunded.length > 0) await change(of(account), {}, () => ({ answer: undefined })); // adds their entries
      return store.entries(accountId(account), limit, before);
    },
  };
};

type Times = Pick<Policy<string, string>, "activeMax" | "holdSeconds" | "idempotencyHours">;

/** The account of a call, its store, and the lease time of its holds. */
type Account = Pick<Parts<string, string>, "store" | "reporter"> & { readonly id: AccountId; readonly policy: Times };

/** The changes of a decision; omitted parts stay. */
type Effect = {
  readonly credits?: number;
  readonly holds?: readonly Hold[];
  readonly entries?: readonly MeterEntry[];
  readonly log?: AdmissionLog | undefined;
};

type Decision<Answer> = Effect & { readonly answer: Answer };

const report = (reporter: MeterReporter | undefined, event: MeterEvent): void => {
  try {
    reporter?.report(event);
  } catch {
    // An error here would look as if nothing were held.
  }
};

/** The account after the end of expired leases. */
const read = async ({ store, id }: Account, taskId?: TaskId): Promise<Expiry & { readonly hold: Hold | undefined }> => {
  const reading = await store.read(id, { taskId });
  const expiry = expireHolds(reading, reading.now);
  return { ...expiry, hold: asExpired(reading.hold, expiry) };
};

const find = async (account: Account, taskId: TaskId): Promise<TaskHold | undefined> => {
  const { hold } = await read(account, taskId);
  return hold && handleOf(account, hold, false);
};

/** Ends the expired leases of the account, then decides, and reports the changes. */
const change = async <Answer>(
  { store, id, reporter }: Account,
  query: MeterQuery,
  decide: (expiry: Expiry, record: MeterRecord) => Decision<Answer>,
): Promise<Answer> => {
  const { answer, ended, entries } = await store.change(id, query, (record) => {
    const expiry = expireHolds(record, record.now);
    const { answer, ...effect } = decide(expiry, { ...record, hold: asExpired(record.hold, expiry) });
    const change = changeOf(expiry, effect);
    return { change, answer: { answer, ended: expiry.refunded, entries: change?.entries ?? [] } };
  });
  for (const { reservation } of ended) {
    const { taskId, credits: returned } = reservation;
    report(reporter, { kind: "lease_ended", accountId: id, taskId, credits: returned });
  }
  for (const entry of entries) report(reporter, { kind: "entry", entry });
  return answer;
};

const hold = async <Price extends string, RateKind extends string>(
  account: Account,
  policy: Policy<Price, RateKind>,
  { price, quantity = 1, rate: kind, idempotencyKey: givenKey, fingerprint, ...notes }: HoldRequest<Price, RateKind>,
): Promise<Result<TaskHold, HoldRefusal>> => {
  const cost = costOf(policy, price, quantity);
  const rate = kind === undefined ? undefined : rateOf(policy, kind);
  const key = givenKey === undefined ? undefined : idempotencyKey(givenKey);
  const requestSha256 = JSON.stringify([price, fingerprint ?? null, quantity]);
  const noted = entryNotes(notes);
  const query = { rate: kind, idempotencyKey: key };
  const held = await change<Result<TaskHold, HoldRefusal>>(account, query, (expiry, record) => {
    const { now, newTaskId: taskId, hold: known } = record;
    const admitted = rate === undefined ? undefined : admitRequest(record.log, rate, now.getTime());
    if (admitted?.isErr()) return { answer: err(admitted.error) };
    const log = admitted?.isOk() ? admitted.value.log : undefined;
    if (key !== undefined && known?.idempotent !== undefined && isRemembered(known, policy, now)) {
      const isSame = known.idempotent.requestSha256 === requestSha256;
      if (isSame) return { log, answer: ok(handleOf(account, known, true)) };
      return { log, answer: err({ kind: "key_reused", key, hours: policy.idempotencyHours }) };
    }
    const reserved = reserve(standingOf(account.id, expiry), { taskId, cost }, policy.activeMax);
    if (reserved.isErr()) return { log, answer: err(reserved.error) };
    const { reservation } = reserved.value;
    const idempotent = key && { key, requestSha256 };
    const opened: OpenHold = { ...noted, reservation, heldAt: now, expiresAt: leaseFrom(now, policy), idempotent };
    const entries = [{ ...reservationEntry(reservation, now), ...noted }];
    const answer = ok(handleOf(account, opened, false));
    return { log, credits: expiry.credits - cost, holds: [opened], entries, answer };
  });
  if (held.isErr()) report(account.reporter, { kind: "refused", accountId: account.id, refusal: held.error });
  return held;
};

const admit = async <RateKind extends string>(
  account: Account,
  policy: Policy<string, RateKind>,
  kind: RateKind,
): Promise<Result<Omit<Admission, "log">, RateLimited>> => {
  const rate = rateOf(policy, kind);
  const admitted = await change<Result<Omit<Admission, "log">, RateLimited>>(account, { rate: kind }, (_, record) => {
    const counted = admitRequest(record.log, rate, record.now.getTime());
    if (counted.isErr()) return { answer: err(counted.error) };
    const { log, ...admission } = counted.value;
    return { log, answer: ok(admission) };
  });
  if (admitted.isErr()) report(account.reporter, { kind: "refused", accountId: account.id, refusal: admitted.error });
  return admitted;
};

const purchase = (
  account: Account,
  { orderId: givenId, credits: given, ...notes }: Parameters<Meter<string, string>["purchase"]>[1],
): Promise<number> => {
  const [order, amount, noted] = [orderId(givenId), credits(given), entryNotes(notes)];
  return change<number>(account, { entryKey: order }, (expiry, { entry: known, now: at }) => {
    if (known !== undefined && !(known.kind === "purchase" && known.credits === amount)) {
      const other = `the ${known.kind} of ${known.credits} credits`;
      throw new Error(`The order ${order} is ${other}, and cannot be a purchase of ${amount}.`);
    }
    if (known !== undefined) return { answer: expiry.credits };
    const after = balanceAfter(expiry, amount);
    const entry = { ...noted, kind: "purchase", accountId: account.id, orderId: order, credits: amount, at } as const;
    return { credits: after, entries: [entry], answer: after };
  });
};

const refundLater = async (
  account: Account,
  { taskId: givenId, credits: given, reason: text, idempotencyKey: givenKey, metadata }: CapturedRefund,
): Promise<Result<number, NotCaptured | RefundTooHigh | KeyReused>> => {
  const [key, reason, noted] = [idempotencyKey(givenKey), entryReason(text), entryNotes({ metadata })];
  const amount = given === undefined ? undefined : credits(given);
  const taskId = parseTaskId(givenId);
  if (taskId === undefined) return err({ kind: "not_captured", state: "unknown" });
  return change<Result<number, NotCaptured | RefundTooHigh | KeyReused>>(
    account,
    { taskId, entryKey: key },
    (expiry, { hold, entry: known, now: at }) => {
      if (known !== undefined) {
        const isSame =
          known.kind === "refund" && known.taskId === taskId && (amount ?? known.credits) === known.credits;
        return { answer: isSame ? ok(expiry.credits) : err({ kind: "key_reused", key }) };
      }
      if (hold === undefined) return { answer: err({ kind: "not_captured", state: "unknown" }) };
      if (!("captured" in hold)) return { answer: err({ kind: "not_captured", state: hold.reservation.state }) };
      const refunded = refundCaptured(hold, amount);
      if (refunded.isErr()) return { answer: err(refunded.error) };
      const { hold: next, credits: returned } = refunded.value;
      const after = balanceAfter(expiry, returned);
      const core = { kind: "refund", accountId: account.id, taskId, credits: returned, at } as const;
      const entries = [{ ...core, ...noted, reason, idempotencyKey: key }];
      return { credits: after, holds: [next], entries, answer: ok(after) };
    },
  );
};

const adjust = (
  account: Account,
  { credits: amount, reason: text, idempotencyKey: givenKey, allowDebt = false, metadata }: Adjustment,
): Promise<Result<number, InsufficientCredits | KeyReused>> => {
  if (!Number.isSafeInteger(amount)) throw new RangeError(`An adjustment cannot be ${amount} credits.`);
  const [key, reason, noted] = [idempotencyKey(givenKey), entryReason(text), entryNotes({ metadata })];
  return change<Result<number, InsufficientCredits | KeyReused>>(
    account,
    { entryKey: key },
    (expiry, { entry: known, now: at }) => {
      if (known !== undefined) {
        const isSame = known.kind === "adjustment" && known.credits === amount;
        return { answer: isSame ? ok(expiry.credits) : err({ kind: "key_reused", key }) };
      }
      const after = balanceAfter(expiry, amount);
      if (amount < 0 && after < 0 && !allowDebt) {
        const { credits: balance } = standingOf(account.id, expiry);
        return { answer: err({ kind: "insufficient_credits", balance, cost: credits(-amount) }) };
      }
      const core = { kind: "adjustment", accountId: account.id, credits: amount, reason, at } as const;
      return { credits: after, entries: [{ ...core, ...noted, idempotencyKey: key }], answer: ok(after) };
    },
  );
};

const leaseFrom = (now: Date, { holdSeconds }: Times): Date => new Date(now.getTime() + holdSeconds * 1000);

/** True while the key of a hold is remembered: always while the hold is open, or one job would be paid twice. */
const isRemembered = ({ heldAt, reservation }: Hold, { idempotencyHours }: Times, now: Date): boolean =>
  reservation.state === "held" || now.getTime() - heldAt.getTime() < idempotencyHours * 3_600_000;

const handleOf = (account: Account, hold: Hold, replayed: boolean): TaskHold => {
  const { taskId, credits: held, state } = hold.reservation;
  return {
    ...entryNotes(hold),
    taskId,
    credits: held,
    state,
    spent: spentOn(hold),
    expiresAt: hold.expiresAt,
    replayed,
    capture: async (part) => capture(account, taskId, part === undefined ? held : credits(part.credits)),
    refund: () => refund(account, taskId),
    renew: () => renew(account, taskId),
  };
};

const capture = (account: Account, taskId: TaskId, amount: Credits): Promise<Result<void, AlreadyResolved>> =>
  changeHold<void>(
    account,
    taskId,
    (open, at, before) => {
      const { hold, entries } = captureHold(open, amount, at);
      return { credits: before + open.reservation.credits - amount, holds: [hold], entries, value: undefined };
    },
    (ended) => ("captured" in ended && ended.captured === amount ? ok(undefined) : err(resolved(ended))),
  );

const refund = (account: Account, taskId: TaskId): Promise<Result<void, AlreadyResolved>> =>
  changeHold<void>(
    account,
    taskId,
    (open, at, before) => {
      const { hold, entries } = refundHold(open, at);
      return { credits: before + open.reservation.credits, holds: [hold], entries, value: undefined };
    },
    (ended) => ("captured" in ended ? err(resolved(ended)) : ok(undefined)),
  );

const renew = (account: Account, taskId: TaskId): Promise<Result<Date, AlreadyResolved>> =>
  changeHold<Date>(
    account,
    taskId,
    (open, now) => {
      const renewed = { ...open, expiresAt: leaseFrom(now, account.policy) };
      return { holds: [renewed], value: renewed.expiresAt };
    },
    (ended) => err(resolved(ended)),
  );

const resolved = (ended: Hold): AlreadyResolved => ({
  kind: "already_resolved",
  as: "captured" in ended ? "captured" : "refunded",
});

/**
 * Ends or renews an open hold. `next` gets the time and the balance; `repeated` decides about a hold that has ended.
 */
const changeHold = <Value>(
  account: Account,
  taskId: TaskId,
  next: (hold: OpenHold, now: Date, credits: number) => Effect & { readonly value: Value },
  repeated: (ended: Hold) => Result<Value, AlreadyResolved>,
): Promise<Result<Value, AlreadyResolved>> =>
  change<Result<Value, AlreadyResolved>>(account, { taskId }, (expiry, { hold, now }) => {
    const open = expiry.open.find(({ reservation }) => reservation.taskId === taskId);
    if (open !== undefined) {
      const { value, ...effect } = next(open, now, expiry.credits);
      return { ...effect, answer: ok(value) };
    }
    if (hold === undefined) {
      const why = "It was deleted, or the transaction that made it was rolled back.";
      throw new Error(`The account ${account.id} has no hold ${taskId}. ${why}`);
    }
    return { answer: repeated(hold) };
  });

/** The hold after the end of its lease. */
const asExpired = (hold: Hold | undefined, { refunded }: Expiry): Hold | undefined =>
  refunded.find(({ reservation }) => reservation.taskId === hold?.reservation.taskId) ?? hold;

/** The change to store; `undefined` if there is none. A decision never changes a hold whose lease has ended. */
const changeOf = (expiry: Expiry, { credits, holds = [], entries = [], log }: Effect): MeterChange | undefined => {
  if (holds.length === 0 && entries.length === 0 && log === undefined && expiry.refunded.length === 0) {
    return undefined;
  }
  return {
    credits: credits ?? expiry.credits,
    holds: [...expiry.refunded, ...holds],
    entries: [...expiry.entries, ...entries],
    log,
  };
};
