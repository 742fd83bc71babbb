import { err, ok, type Result } from "neverthrow";
import type { Brand } from "../ids.js";
import { type Credits, credits } from "./credits.js";

/**
 * The budgets of an API key: maximum credits in one day and in one month. `undefined`: no maximum.
 *
 * The windows are calendar days and months in UTC, and renew at 00:00 UTC. The spending in a window is the sum of the
 * credits of the tasks reserved in it, without refunded ones: a refund counts in the window of its reservation. A task
 * is admitted if it exceeds no budget.
 */
export type Budgets = { readonly creditsPerDay: Credits | undefined; readonly creditsPerMonth: Credits | undefined };

/** Credits that a key has spent in the current day and month. */
export type Spending = { readonly today: number; readonly thisMonth: number };

/** The task would exceed a budget. `left`: remaining credits of the window. `renewsAt`: its end. */
export type BudgetSpent = {
  readonly kind: "budget_spent";
  readonly window: "day" | "month";
  readonly budget: Credits;
  readonly left: Credits;
  readonly cost: Credits;
  readonly renewsAt: Date;
};

/** A calendar day in UTC as the number `yyyymmdd`: days sort, and the days of a month are adjacent. */
export type Day = Brand<number, "Day">;

/** The day in UTC. */
export const dayOf = (at: Date): Day =>
  (at.getUTCFullYear() * 10_000 + (at.getUTCMonth() + 1) * 100 + at.getUTCDate()) as Day;

/** First and last day of the month of `at`. */
export const monthOf = (at: Date): { readonly first: Day; readonly last: Day } => {
  const month = Math.floor(dayOf(at) / 100) * 100;
  return { first: (month + 1) as Day, last: (month + 31) as Day };
};

/** True if there is a budget for a day or for a month. */
export const hasBudget = ({ creditsPerDay, creditsPerMonth }: Budgets): boolean =>
  creditsPerDay !== undefined || creditsPerMonth !== undefined;

/** Checks the budgets of a key. If both are spent, the error names the month: a new day would not help. */
export const admitSpending = (
  { creditsPerDay, creditsPerMonth }: Budgets,
  { today, thisMonth }: Spending,
  cost: Credits,
  now: Date,
): Result<void, BudgetSpent> => {
  for (const [window, budget, spent] of [
    ["month", creditsPerMonth, thisMonth],
    ["day", creditsPerDay, today],
  ] as const) {
    if (budget === undefined || spent + cost <= budget) continue;
    const left = credits(Math.max(0, budget - spent));
    return err({ kind: "budget_spent", window, budget, left, cost, renewsAt: windowEnd(window, now) });
  }
  return ok(undefined);
};

/** The first moment of the window. */
export const windowStart = (window: "day" | "month", at: Date): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), window === "day" ? at.getUTCDate() : 1));

/** The first moment after the window, when its budget renews. */
export const windowEnd = (window: "day" | "month", now: Date): Date => {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return new Date(window === "day" ? Date.UTC(year, month, now.getUTCDate() + 1) : Date.UTC(year, month + 1, 1));
};
