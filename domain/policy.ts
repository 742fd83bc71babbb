import { type Credits, credits } from "./credits.js";
import type { Rate } from "./rate-limit.js";

/**
 * The numbers of one product, and the names of its kinds. `Price`: what can be paid for. `RateKind`: the kinds of requests
 * that share a limit.
 */
export type Policy<Price extends string, RateKind extends string> = {
  /** What one task costs, by its kind. */
  readonly prices: Readonly<Record<Price, Credits>>;
  readonly rates: Readonly<Record<RateKind, Rate>>;
  /** Maximum number of active tasks of one account. */
  readonly activeMax: number;
  /** How long the first request with an idempotency key is remembered. */
  readonly idempotencyHours: number;
};

/** Prices are plain numbers here, and what is left out has its default: keys are remembered for 24 hours. */
export type PolicyDefinition<Price extends string, RateKind extends string> = {
  readonly prices: Readonly<Record<Price, number>>;
  readonly rates: Readonly<Record<RateKind, Rate>>;
  readonly activeMax: number;
  readonly idempotencyHours?: number;
};

const IDEMPOTENCY_HOURS = 24;

/** Makes a policy from constants. Throws for a number that no policy can have: prices are 0 or more, all others 1 or more. */
export const definePolicy = <Price extends string, RateKind extends string>({
  prices,
  rates,
  activeMax,
  idempotencyHours = IDEMPOTENCY_HOURS,
}: PolicyDefinition<Price, RateKind>): Policy<Price, RateKind> => {
  for (const [kind, { limit, windowSeconds }] of Object.entries<Rate>(rates)) {
    requirePositive(`rates.${kind}.limit`, limit);
    requirePositive(`rates.${kind}.windowSeconds`, windowSeconds);
  }
  requirePositive("activeMax", activeMax);
  requirePositive("idempotencyHours", idempotencyHours);
  const amounts = Object.entries<number>(prices).map(([price, amount]) => [price, credits(amount)]);
  // The entries have the keys of `prices`.
  return { prices: Object.fromEntries(amounts) as Record<Price, Credits>, rates, activeMax, idempotencyHours };
};

const requirePositive = (name: string, value: number): void => {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new RangeError(`${name} of a policy must be an integer of 1 or more, not ${value}`);
};
