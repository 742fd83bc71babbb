import type { Credits } from "./credits.js";

/** `none`: there was none, or only an inquiry that moves no money. */
export type DisputeState = "none" | "open" | "won" | "lost";

/**
 * What is known of money that came back, by the payment service's id of it. Reports of it arrive twice, late and in any
 * order; `mergeReturns` keeps the latest of each part, so that what is known in the end does not depend on the order.
 */
export type PaymentReturn = { readonly id: string } & (
  | PaymentRefund
  | RefundedTotal
  | PaymentDispute
  /** Credits that the operator took back, by hand. `credits` are at least 1. */
  | { readonly kind: "operator"; readonly credits: Credits; readonly reason: string; readonly at: Date }
);

/** A refund counts from its creation. It may fail later, which is final. */
type PaymentRefund = {
  readonly kind: "refund";
  readonly cents: number;
  /** When it was created. */
  readonly at: Date;
  readonly failedAt?: Date | undefined;
};

/** The sum of all refunds of a charge at a time. It may contain refunds that are not known one by one. */
type RefundedTotal = { readonly kind: "total"; readonly cents: number; readonly at: Date };

type PaymentDispute = {
  readonly kind: "dispute";
  readonly state: DisputeState;
  /** When it was in this state. */
  readonly stateAt: Date;
  /** The money that it has withdrawn; absent if no report has told it. */
  readonly withdrawn?: Withdrawn | undefined;
};

/** `transfers`: how often money was moved until then, which tells apart reports of the same second. */
export type Withdrawn = { readonly cents: number; readonly at: Date; readonly transfers: number };

/** The order of the states of a dispute, for two reports of the same time. */
const STATES: readonly DisputeState[] = ["none", "open", "lost", "won"];

/** Commutative, associative and idempotent. Throws for returns of different ids or kinds, which is a bug. */
export const mergeReturns = (one: PaymentReturn, other: PaymentReturn): PaymentReturn => {
  if (one.id !== other.id) throw new Error(`Bug: ${one.id} is not ${other.id}`);
  if (one.kind === "refund" && other.kind === "refund") return mergeRefunds(one, other);
  if (one.kind === "total" && other.kind === "total") return later(one, other, ({ at, cents }) => [+at, cents]);
  if (one.kind === "operator" && other.kind === "operator") return one;
  if (one.kind === "dispute" && other.kind === "dispute") return mergeDisputes(one, other);
  throw new Error(`Bug: ${one.id} is a ${one.kind} and a ${other.kind}`);
};

type Identified<Part> = Part & { readonly id: string };

const mergeRefunds = (one: Identified<PaymentRefund>, other: Identified<PaymentRefund>): PaymentReturn => {
  const failures = [one.failedAt, other.failedAt].flatMap((at) => (at === undefined ? [] : [+at]));
  return {
    id: one.id,
    kind: "refund",
    cents: Math.max(one.cents, other.cents),
    at: new Date(Math.min(+one.at, +other.at)),
    failedAt: failures.length === 0 ? undefined : new Date(Math.min(...failures)),
  };
};

const mergeDisputes = (one: Identified<PaymentDispute>, other: Identified<PaymentDispute>): PaymentReturn => {
  const { state, stateAt } = later(one, other, ({ stateAt, state }) => [+stateAt, STATES.indexOf(state)]);
  const [first, second] = [one.withdrawn, other.withdrawn];
  const withdrawn =
    first && second ? later(first, second, ({ at, transfers, cents }) => [+at, transfers, -cents]) : (first ?? second);
  return { id: one.id, kind: "dispute", state, stateAt, withdrawn };
};

/** The one with the greater rank; the first number that differs decides. */
const later = <T>(one: T, other: T, rankOf: (value: T) => readonly number[]): T => {
  const ranks = rankOf(other);
  for (const [index, rank] of rankOf(one).entries()) {
    const difference = rank - (ranks[index] ?? 0);
    if (difference !== 0) return difference > 0 ? one : other;
  }
  return one;
};

/**
 * How long a return of an unknown payment is kept. A payment is reported within days, and other products of the
 * operator may have refunds, too.
 */
export const UNKNOWN_RETURN_KEPT_MILLISECONDS = 30 * 24 * 60 * 60 * 1000;

/** What came back of an order, all in all. */
export type Returned = {
  readonly state: "paid" | "partly_refunded" | "refunded";
  readonly dispute: DisputeState;
  /** The credits that must be taken back. */
  readonly takenBack: Credits;
  /** Why the operator has taken credits back the last time. */
  readonly reason: string | undefined;
};

/**
 * Computes from all that is known, so each report counts once. Credits come back in the proportion of the money,
 * rounded down, never more than the order had: a refund and a dispute of the same money count once. What the operator
 * has taken by hand counts once with what the payment service reports, too: the greater of both.
 *
 * `priceCents` is `undefined` for an order without a checkout, whose money comes back by hand only.
 */
export const returnedOf = (
  { credits, priceCents }: { readonly credits: Credits; readonly priceCents: number | undefined },
  returns: readonly PaymentReturn[],
): Returned => {
  const byHand = Math.min(
    credits,
    sum(returns, (returned) => (returned.kind === "operator" ? returned.credits : 0)),
  );
  const price = priceCents ?? 0;
  const refunded = price === 0 ? 0 : Math.min(price, refundedCents(returns));
  const withdrawn = sum(returns, (returned) => (returned.kind === "dispute" ? (returned.withdrawn?.cents ?? 0) : 0));
  const cents = Math.min(price, refunded + withdrawn);
  // 1,000,000 credits of at most 2^31 cents: within the integers that a number holds exactly.
  const share = price === 0 ? 0 : Math.floor((credits * cents) / price);
  const isRefunded = byHand === credits || (price > 0 && refunded === price);
  return {
    state: isRefunded ? "refunded" : byHand > 0 || refunded > 0 ? "partly_refunded" : "paid",
    dispute: disputeOf(returns),
    takenBack: Math.max(byHand, share) as Credits,
    reason: reasonOf(returns),
  };
};

/** What the operator may still take back by hand. */
export const leftToTake = (credits: Credits, returns: readonly PaymentReturn[]): number =>
  credits - sum(returns, (returned) => (returned.kind === "operator" ? returned.credits : 0));

/** A total counts only for what exceeds the refunds that are known from its time. */
const refundedCents = (returns: readonly PaymentReturn[]): number => {
  const refunds = returns.flatMap((returned) => (returned.kind === "refund" ? [returned] : []));
  const known = sum(refunds, ({ cents, failedAt }) => (failedAt === undefined ? cents : 0));
  const containedAt = (time: Date) =>
    sum(refunds, ({ cents, at, failedAt }) => (at <= time && (failedAt === undefined || failedAt >= time) ? cents : 0));
  const more = sum(returns, (returned) =>
    returned.kind === "total" ? Math.max(0, returned.cents - containedAt(returned.at)) : 0,
  );
  return known + more;
};

/** The ids of what the operator takes back are numbered. */
const reasonOf = (returns: readonly PaymentReturn[]): string | undefined =>
  returns
    .flatMap((returned) => (returned.kind === "operator" ? [returned] : []))
    .toSorted((one, other) => +other.at - +one.at || (one.id < other.id ? 1 : -1))[0]?.reason;

/** An open dispute counts before one that has ended, and a lost one before one that was won. */
const disputeOf = (returns: readonly PaymentReturn[]): DisputeState => {
  const states = new Set(returns.map((returned) => (returned.kind === "dispute" ? returned.state : "none")));
  return (["open", "lost", "won"] as const).find((state) => states.has(state)) ?? "none";
};

const sum = <T>(values: readonly T[], of: (value: T) => number): number =>
  values.reduce((total, value) => total + of(value), 0);
