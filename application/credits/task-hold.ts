import { err, ok, type Result } from "neverthrow";
import { type Credits, credits } from "../../domain/credits/credits.js";
import { captureHold, type Hold, netCostOf, type OpenHold, refundHold, standingOf } from "../../domain/credits/hold.js";
import { idempotencyKey } from "../../domain/credits/idempotency.js";
import { reservationEntry } from "../../domain/credits/ledger.js";
import { entryNotes } from "../../domain/credits/meter-entry.js";
import { costOf, type Policy, rateOf } from "../../domain/credits/policy.js";
import { admitRequest } from "../../domain/credits/rate-limit.js";
import { reserve } from "../../domain/credits/reservation.js";
import type { TaskId } from "../../domain/ids.js";
import { change, type Decision, type MeterAccount, type MeterLimits, read, report } from "./meter-account.js";
import type { AlreadyResolved, HoldRefusal, HoldRequest, TaskHold } from "./meter-types.js";

export async function hold<Price extends string, RateKind extends string>(
  account: MeterAccount,
  policy: Policy<Price, RateKind>,
  { price, quantity = 1, rate: kind, idempotencyKey: givenKey, fingerprint, ...notes }: HoldRequest<Price, RateKind>,
): Promise<Result<TaskHold, HoldRefusal>> {
  const cost = costOf(policy, price, quantity);
  const rate = kind === undefined ? undefined : rateOf(policy, kind);
  const key = givenKey === undefined ? undefined : idempotencyKey(givenKey);
  const request = JSON.stringify([price, fingerprint ?? null, quantity]);
  const noted = entryNotes(notes);
  const query = { rate: kind, idempotencyKey: key };
  const result = await change<Result<TaskHold, HoldRefusal>>(account, query, (expiry, record) => {
    const { now, newTaskId: taskId, hold: known } = record;
    const admitted = rate === undefined ? undefined : admitRequest(record.log, rate, now.getTime());
    if (admitted?.isErr()) return { answer: err(admitted.error) };
    const log = admitted?.isOk() ? admitted.value.log : undefined;
    if (known?.idempotent !== undefined && isRemembered(known, policy, now)) {
      const { key: used, request: first } = known.idempotent;
      if (first === request) return { log, answer: ok(toTaskHold(account, known, true)) };
      return { log, answer: err({ kind: "key_reused", key: used, hours: policy.idempotencyHours }) };
    }
    const reserved = reserve(standingOf(account.id, expiry), { taskId, cost }, policy.activeMax);
    if (reserved.isErr()) return { log, answer: err(reserved.error) };
    const { reservation } = reserved.value;
    const idempotent = key && { key, request };
    const opened: OpenHold = { ...noted, reservation, heldAt: now, expiresAt: leaseEnd(now, policy), idempotent };
    const entries = [{ ...reservationEntry(reservation, now), ...noted }];
    const answer = ok(toTaskHold(account, opened, false));
    return { log, credits: expiry.credits - cost, holds: [opened], entries, answer };
  });
  if (result.isErr()) report(account.reporter, { kind: "refused", accountId: account.id, refusal: result.error });
  return result;
}

export async function find(account: MeterAccount, taskId: TaskId): Promise<TaskHold | undefined> {
  const { hold } = await read(account, taskId);
  return hold && toTaskHold(account, hold, false);
}

/** True while a repeat returns this hold: always while it is open, as otherwise one job would be paid twice. */
const isRemembered = ({ heldAt, reservation }: Hold, { idempotencyHours }: MeterLimits, now: Date): boolean =>
  reservation.state === "held" || now.getTime() - heldAt.getTime() < idempotencyHours * 3_600_000;

export function toTaskHold(account: MeterAccount, hold: Hold, replayed: boolean): TaskHold {
  const { taskId, credits: heldCredits, state } = hold.reservation;
  return {
    ...entryNotes(hold),
    taskId,
    credits: heldCredits,
    state,
    spent: netCostOf(hold),
    expiresAt: hold.expiresAt,
    replayed,
    capture: async (part) => capture(account, taskId, part === undefined ? heldCredits : credits(part.credits)),
    refund: () => refund(account, taskId),
    renew: () => renew(account, taskId),
  };
}

const isOpen = (hold: Hold): hold is OpenHold => hold.reservation.state === "held";

const capture = (account: MeterAccount, taskId: TaskId, amount: Credits): Promise<Result<void, AlreadyResolved>> =>
  changeHold<void>(account, taskId, (hold, at, balance) => {
    if (!isOpen(hold)) {
      const isRepeat = "captured" in hold && hold.captured === amount;
      return { answer: isRepeat ? ok(undefined) : alreadyResolved(hold) };
    }
    const { hold: captured, entries } = captureHold(hold, amount, at);
    const returned = hold.reservation.credits - amount;
    return { credits: balance + returned, holds: [captured], entries, answer: ok(undefined) };
  });

const refund = (account: MeterAccount, taskId: TaskId): Promise<Result<void, AlreadyResolved>> =>
  changeHold<void>(account, taskId, (hold, at, balance) => {
    // Already refunded, by an earlier call or at the end of the lease: a repeat changes nothing.
    if (!isOpen(hold)) return { answer: "captured" in hold ? alreadyResolved(hold) : ok(undefined) };
    const { hold: refunded, entries } = refundHold(hold, at);
    return { credits: balance + hold.reservation.credits, holds: [refunded], entries, answer: ok(undefined) };
  });

const renew = (account: MeterAccount, taskId: TaskId): Promise<Result<Date, AlreadyResolved>> =>
  changeHold<Date>(account, taskId, (hold, now) => {
    if (!isOpen(hold)) return { answer: alreadyResolved(hold) };
    const expiresAt = leaseEnd(now, account.policy);
    return { holds: [{ ...hold, expiresAt }], answer: ok(expiresAt) };
  });

const alreadyResolved = (ended: Hold): Result<never, AlreadyResolved> =>
  err({ kind: "already_resolved", as: "captured" in ended ? "captured" : "refunded" });

/** Calls `decide` with the hold, the time and the balance, and stores its changes. Throws for an unknown task. */
const changeHold = <Value>(
  account: MeterAccount,
  taskId: TaskId,
  decide: (hold: Hold, now: Date, balance: number) => Decision<Result<Value, AlreadyResolved>>,
): Promise<Result<Value, AlreadyResolved>> =>
  change<Result<Value, AlreadyResolved>>(account, { taskId }, (expiry, { hold, now }) => {
    if (hold !== undefined) return decide(hold, now, expiry.credits);
    const why = "It was deleted, or the transaction that made it was rolled back.";
    throw new Error(`The account ${account.id} has no hold ${taskId}. ${why}`);
  });

const leaseEnd = (now: Date, { holdSeconds }: MeterLimits): Date => new Date(now.getTime() + holdSeconds * 1000);
