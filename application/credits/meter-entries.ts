import { err, ok, type Result } from "neverthrow";
import { credits } from "../../domain/credits/credits.js";
import { balanceAfter, type RefundTooHigh, refundCaptured, standingOf } from "../../domain/credits/hold.js";
import { idempotencyKey, type KeyReused } from "../../domain/credits/idempotency.js";
import { entryNotes, entryReason } from "../../domain/credits/meter-entry.js";
import { orderId } from "../../domain/credits/order.js";
import { type Policy, rateOf } from "../../domain/credits/policy.js";
import { type Admission, admitRequest, type RateLimited } from "../../domain/credits/rate-limit.js";
import type { InsufficientCredits } from "../../domain/credits/reservation.js";
import { parseTaskId } from "../../domain/ids.js";
import { change, type MeterAccount, report } from "./meter-account.js";
import type { Adjustment, Meter, MeterRefund, NotCaptured } from "./meter-types.js";

export async function admit<RateKind extends string>(
  account: MeterAccount,
  policy: Policy<string, RateKind>,
  kind: RateKind,
): Promise<Result<Omit<Admission, "log">, RateLimited>> {
  const rate = rateOf(policy, kind);
  const admitted = await change<Result<Omit<Admission, "log">, RateLimited>>(account, { rate: kind }, (_, record) => {
    const counted = admitRequest(record.log, rate, record.now.getTime());
    if (counted.isErr()) return { answer: err(counted.error) };
    const { log, ...admission } = counted.value;
    return { log, answer: ok(admission) };
  });
  if (admitted.isErr()) report(account.reporter, { kind: "refused", accountId: account.id, refusal: admitted.error });
  return admitted;
}

export function purchase(
  account: MeterAccount,
  { orderId: givenId, credits: given, ...notes }: Parameters<Meter<string, string>["purchase"]>[1],
): Promise<number> {
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
}

export async function refundTask(
  account: MeterAccount,
  { taskId: givenId, credits: given, reason: text, idempotencyKey: givenKey, metadata }: MeterRefund,
): Promise<Result<number, NotCaptured | RefundTooHigh | KeyReused>> {
  const [key, reason, noted] = [idempotencyKey(givenKey), entryReason(text), entryNotes({ metadata })];
  const amount = given === undefined ? undefined : credits(given);
  const taskId = parseTaskId(givenId);
  if (taskId === undefined) return err({ kind: "not_captured", state: "unknown" });
  return change<Result<number, NotCaptured | RefundTooHigh | KeyReused>>(
    account,
    { taskId, entryKey: key },
    (expiry, { hold, entry: known, now: at }) => {
      if (known !== undefined) {
        // Without an amount, a repeat matches any amount: the first call refunded all that was left.
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
}

export function adjustBalance(
  account: MeterAccount,
  { credits: amount, reason: text, idempotencyKey: givenKey, allowDebt = false, metadata }: Adjustment,
): Promise<Result<number, InsufficientCredits | KeyReused>> {
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
        // 0 while the account is in debt.
        const { credits: balance } = standingOf(account.id, expiry);
        return { answer: err({ kind: "insufficient_credits", balance, cost: credits(-amount) }) };
      }
      const core = { kind: "adjustment", accountId: account.id, credits: amount, reason, at } as const;
      return { credits: after, entries: [{ ...core, ...noted, idempotencyKey: key }], answer: ok(after) };
    },
  );
}
