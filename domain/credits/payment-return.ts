import type { Credits } from "./credits.js";

/** State of a dispute. `none`: no dispute, or only an inquiry that moves no money. */
export type DisputeState = "none" | "open" | "won" | "lost";

/**
 * A refund or dispute, identified by the payment service's id. Reports may repeat, be late or out of order;
 * `mergeReturns` keeps the latest of each part, so the order of reports does not matter.
 */
export type PaymentReturn = { readonly id: string } & (
  | PaymentRefund
  | RefundedTotal
  | PaymentDispute
  /** Credits that the operator took back by hand, at least 1. */
  | { readonly kind: "operator"; readonly credits: Credits; readonly reason: string; readonly at: Date }
);

/** A refund counts from its creation. It may fail later, which is final. */
type PaymentRefund = {
  readonly kind: "refund";
  readonly cents: number;
  /** Time of its creation. */
  readonly at: Date;
  readonly failedAt?: Date | undefined;
};

/** Refunded total of a charge at a time. May include refunds without a report of their own. */
type RefundedTotal = { readonly kind: "total"; readonly cents: number; readonly at: Date };

type PaymentDispute = {
  readonly kind: "dispute";
  readonly state: DisputeState;
  /** Time of this state. */
  readonly stateAt: Date;
  /** Money withdrawn by the dispute; absent if it was not reported. */
  readonly withdrawn?: Withdrawn | undefined;
};

/** `transfers`: number of money movements until then; it orders reports of the same second. */
export type Withdrawn = { readonly cents: number; readonly at: Date; readonly transfers: number };

/** The order of the states of a dispute after `none`, for two reports of the same time. */
const STATES: readonly DisputeState[] = ["open", "lost", "won"];

/**
 * Merges two reports of a return. Commutative, associative and idempotent. Throws for different ids or kinds: a bug.
 */
export const mergeReturns = (one: PaymentReturn, other: PaymentReturn): PaymentReturn => {
  if (one.id !== other.id) throw new Error(`Bug: ${one.id} is not ${other.id}`);
  if (one.kind === "refund" && other.kind === "refund") return mergeRefunds(one, other);
  if (one.kind === "total" && other.kind === "total")
    return later(one, other, (a, b) => +a.at - +b.at || a.cents - b.cents);
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
  const { state, stateAt } = later(
    one,
    other,
    (a, b) => +a.stateAt - +b.stateAt || STATES.indexOf(a.state) - STATES.indexOf(b.state),
  );
  const [first, second] = [one.withdrawn, other.withdrawn];
  const withdrawn =
    first && second
      ? later(first, second, (a, b) => +a.at - +b.at || a.transfers - b.transfers || b.cents - a.cents)
      : (first ?? second);
  return { id: one.id, kind: "dispute", state, stateAt, withdrawn };
};

/** `other` if it comes after `one`: if their difference is negative. */
const later = <T>(one: T, other: T, difference: (one: T, other: T) => number): T =>
  difference(one, other) < 0 ? other : one;

/**
 * Retention of a return of an unknown payment. A payment is reported within days, and other products of the operator
 * may have refunds too.
 */
export const UNKNOWN_RETURN_KEPT_MILLISECONDS = 30 * 24 * 60 * 60 * 1000;

/** Effect of all refunds and disputes of an order. */
export type Returned = {
  readonly state: "paid" | "partly_refunded" | "refunded";
  readonly dispute: DisputeState;
  /** The credits that must be taken back. */
  readonly takenBack: Credits;
  /** The operator's latest reason for taking credits back. */
  readonly reason: string | undefined;
};

/**
 * Computes the effect of all returns, so each report counts once. The credits to take back are the share of the
 * returned money, rounded down, at most all: a refund and a dispute of the same money count once. Of credits taken by
 * hand and those by reports, the greater number counts.
 *
 * `priceCents`: `undefined` for an order without a checkout, whose money is returned only by hand.
 */
export const returnedOf = (
  { credits, priceCents }: { readonly credits: Credits; readonly priceCents: number | undefined },
  returns: readonly PaymentReturn[],
): Returned => {
  const byHand = Math.min(credits, creditsByHand(returns));
  const price = priceCents ?? 0;
  const refunded = Math.min(price, refundedCents(returns));
  const withdrawn = sum(ofKind(returns, "dispute"), (dispute) => dispute.withdrawn?.cents ?? 0);
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

/** Credits that the operator can still take back by hand. */
export const remainingManualReturn = (credits: Credits, returns: readonly PaymentReturn[]): number =>
  credits - creditsByHand(returns);

const creditsByHand = (returns: readonly PaymentReturn[]): number =>
  sum(ofKind(returns, "operator"), ({ credits }) => credits);

/** Uses a total only for the part above the refunds known at its time. */
const refundedCents = (returns: readonly PaymentReturn[]): number => {
  const refunds = ofKind(returns, "refund");
  const known = sum(refunds, ({ cents, failedAt }) => (failedAt === undefined ? cents : 0));
  const containedAt = (time: Date) =>
    sum(refunds, ({ cents, at, failedAt }) => (at <= time && (failedAt === undefined || failedAt >= time) ? cents : 0));
  const more = sum(ofKind(returns, "total"), ({ cents, at }) => Math.max(0, cents - containedAt(at)));
  return known + more;
};

/** The latest reason: the ids of returns by hand are numbered. */
const reasonOf = (returns: readonly PaymentReturn[]): string | undefined =>
  ofKind(returns, "operator").toSorted((one, other) => +other.at - +one.at || (one.id < other.id ? 1 : -1))[0]?.reason;

/** An open dispute counts before an ended one, and a lost one before a won one. */
const disputeOf = (returns: readonly PaymentReturn[]): DisputeState => {
  const states = new Set(ofKind(returns, "dispute").map(({ state }) => state));
  return STATES.find((state) => states.has(state)) ?? "none";
};

const ofKind = <K extends PaymentReturn["kind"]>(returns: readonly PaymentReturn[], kind: K) =>
  returns.filter((returned): returned is Extract<PaymentReturn, { kind: K }> => returned.kind === kind);

const sum = <T>(values: readonly T[], of: (value: T) => number): number =>
  values.reduce((total, value) => total + of(value), 0);
