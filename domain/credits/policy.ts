import { type Credits, credits } from "./credits.js";
import type { Rate } from "./rate-limit.js";

/**
 * Prices, rates and limits of one product. `Price`: the names of its prices. `RateKind`: the names of its rate limits.
 */
export type Policy<Price extends string, RateKind extends string> = {
  /** Cost of one task. */
  readonly prices: Readonly<Record<Price, Credits>>;
  readonly rates: Readonly<Record<RateKind, Rate>>;
  /** Maximum number of active tasks of one account. */
  readonly activeMax: number;
  /** Lifetime of the first request of an idempotency key. */
  readonly idempotencyHours: number;
  /**
   * Lifetime of an open hold of a meter: it is then refunded, because the process of its task has died (hold.ts).
   * Panorama tasks have deadlines of their own.
   */
  readonly holdSeconds: number;
};

/** Prices are plain numbers here. Defaults of omitted numbers: 24 hours, and one hour. */
export type PolicyDefinition<Price extends string, RateKind extends string> = {
  readonly prices: Readonly<Record<Price, number>>;
  readonly rates: Readonly<Record<RateKind, Rate>>;
  readonly activeMax: number;
  readonly idempotencyHours?: number;
  readonly holdSeconds?: number;
};

const IDEMPOTENCY_HOURS = 24;
const HOLD_SECONDS = 60 * 60;

/** Creates a policy from constants. Throws for impossible numbers: prices are 0 or more, all others 1 or more. */
export const definePolicy = <Price extends string, RateKind extends string>({
  prices,
  rates,
  activeMax,
  idempotencyHours = IDEMPOTENCY_HOURS,
  holdSeconds = HOLD_SECONDS,
}: PolicyDefinition<Price, RateKind>): Policy<Price, RateKind> => {
  for (const [kind, { limit, windowSeconds }] of Object.entries<Rate>(rates)) {
    requirePositive(`rates.${kind}.limit`, limit);
    requirePositive(`rates.${kind}.windowSeconds`, windowSeconds);
  }
  requirePositive("activeMax", activeMax);
  requirePositive("idempotencyHours", idempotencyHours);
  requirePositive("holdSeconds", holdSeconds);
  const amounts = Object.entries<number>(prices).map(([price, amount]) => [price, credits(amount)]);
  // The entries have the keys of `prices`.
  return {
    prices: Object.fromEntries(amounts) as Record<Price, Credits>,
    rates,
    activeMax,
    idempotencyHours,
    holdSeconds,
  };
};

const requirePositive = (name: string, value: number, of = " of a policy"): void => {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new RangeError(`${name}${of} must be an integer of 1 or more, not ${value}`);
};

/** Cost of a task. Throws if the policy has no such price, or `quantity` is not an integer from 1. */
export const costOf = <Price extends string>(
  { prices }: Pick<Policy<Price, string>, "prices">,
  price: Price,
  quantity: number,
): Credits => {
  requirePositive("quantity", quantity, "");
  return credits(known("price", prices, price) * quantity);
};

/** The rate of a kind. Throws if the policy has no such rate. */
export const rateOf = <RateKind extends string>(
  { rates }: Pick<Policy<string, RateKind>, "rates">,
  rate: RateKind,
): Rate => known("rate", rates, rate);

const known = <Value>(what: string, values: Readonly<Record<string, Value>>, name: string): Value => {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value !== undefined) return value;
  const names = Object.keys(values).join(", ") || "none";
  throw new RangeError(`The policy has no ${what} ${JSON.stringify(name)}. It has ${names}.`);
};
