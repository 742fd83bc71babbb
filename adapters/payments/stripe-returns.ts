import * as z from "zod";
import type { ReturnReport } from "../../application/ports/payments.js";
import type { DisputeState, Withdrawn } from "../../domain/credits/payment-return.js";

/* Reads Stripe's refunds, charges and disputes, of webhooks and of lists. Amounts are in the cents of the payment. */

const CENTS_MAX = 2 ** 31 - 1;
const SECONDS_MAX = 10 ** 10;

const cents = z.int().nonnegative().max(CENTS_MAX);
const seconds = z.int().nonnegative().max(SECONDS_MAX);
const id = z.string().min(1).max(255);
/** Stripe may have expanded it. */
const reference = z.union([id, z.object({ id }).transform((expanded) => expanded.id)]);

const refundSchema = z.object({
  id,
  amount: cents,
  created: seconds,
  status: z.string().nullish(),
  payment_intent: reference,
});

const chargeSchema = z.object({ id, amount_refunded: cents, payment_intent: reference });

const disputeSchema = z.object({
  id,
  amount: cents,
  status: z.string(),
  payment_intent: reference,
  balance_transactions: z.array(z.unknown()).nullish(),
});

const eventSchema = z.object({
  type: z.string(),
  created: seconds.optional(),
  data: z.object({ object: z.unknown() }),
});

/** The report in an event. `undefined` if it is about something else, or names no payment. */
export function returnOf(event: unknown, now: Date): ReturnReport | undefined {
  const { data: parsed } = eventSchema.safeParse(event);
  if (parsed === undefined) return undefined;
  const { type, data, created } = parsed;
  const at = created === undefined ? now : dateOf(created);
  switch (type) {
    case "refund.created":
    case "refund.updated":
    case "refund.failed":
    case "charge.refund.updated": // the same for some payment methods, before there was `refund.updated`
      return refundOf(data.object, at, type === "refund.failed");
    case "charge.refunded":
      return totalOf(data.object, at);
    case "charge.dispute.created":
    case "charge.dispute.updated":
    case "charge.dispute.closed":
    case "charge.dispute.funds_withdrawn":
    case "charge.dispute.funds_reinstated":
      return disputeOf(data.object, type, at);
    default:
      return undefined;
  }
}

/** The refund as it was at `at`. One that is pending counts, because the money has left the operator's balance. */
export function refundOf(refund: unknown, at: Date, hasFailed = false): ReturnReport | undefined {
  const { data } = refundSchema.safeParse(refund);
  if (data === undefined) return undefined;
  const failed = hasFailed || data.status === "failed" || data.status === "canceled";
  return {
    paymentId: data.payment_intent,
    returned: {
      id: data.id,
      kind: "refund",
      cents: data.amount,
      at: dateOf(data.created),
      ...(failed && { failedAt: at }),
    },
  };
}

function totalOf(charge: unknown, at: Date): ReturnReport | undefined {
  const { data } = chargeSchema.safeParse(charge);
  if (data === undefined) return undefined;
  return { paymentId: data.payment_intent, returned: { id: data.id, kind: "total", cents: data.amount_refunded, at } };
}

/** The dispute as it was at `at`. `type`: of the event that tells it. */
export function disputeOf(dispute: unknown, type: string, at: Date): ReturnReport | undefined {
  const { data } = disputeSchema.safeParse(dispute);
  if (data === undefined) return undefined;
  const withdrawn = withdrawnOf(data, type, at);
  return {
    paymentId: data.payment_intent,
    returned: {
      id: data.id,
      kind: "dispute",
      state: stateOf(data.status),
      stateAt: at,
      ...(withdrawn !== undefined && { withdrawn }),
    },
  };
}

/** Inquiries (`warning_…`) and disputes that were `prevented` are none: no money is withdrawn by them. */
function stateOf(status: string): DisputeState {
  if (status === "won" || status === "lost") return status;
  return ["needs_response", "under_review", "appeal_needs_response", "appeal_under_review"].includes(status)
    ? "open"
    : "none";
}

/**
 * Its transactions tell how much was withdrawn and reinstated, in the currency of the operator's balance: only their
 * ratio counts. Without them the type of the event tells, or how the dispute has ended.
 */
function withdrawnOf(
  { amount, status, balance_transactions }: z.infer<typeof disputeSchema>,
  type: string,
  at: Date,
): Withdrawn | undefined {
  const amounts = (balance_transactions ?? []).flatMap((transaction) => transactionAmount(transaction));
  const transfers = amounts.length;
  const out = amounts.filter((moved) => moved < 0).reduce((sum, moved) => sum - moved, 0);
  const isBack = status === "won" || type === "charge.dispute.funds_reinstated";
  if (out > 0 && (transfers > 1 || !isBack)) {
    const net = Math.max(0, -amounts.reduce((sum, moved) => sum + moved, 0));
    return { cents: Math.round((amount * net) / out), at, transfers };
  }
  if (isBack) return { cents: 0, at, transfers };
  return type === "charge.dispute.funds_withdrawn" || status === "lost" ? { cents: amount, at, transfers } : undefined;
}

const transactionSchema = z.object({ amount: z.int() });

function transactionAmount(transaction: unknown): number[] {
  const { data } = transactionSchema.safeParse(transaction);
  return data === undefined ? [] : [data.amount];
}

const dateOf = (unixSeconds: number): Date => new Date(unixSeconds * 1000);
