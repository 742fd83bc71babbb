import { err, ok, type Result } from "neverthrow";
import type { Brand } from "../ids.js";
import { type Credits, credits } from "./credits.js";

/**
 * The budgets of an API key: the credits that it may spend in one day and in one month. `undefined`: any number.
 *
 * The windows are calendar days and calendar months in UTC. They renew at 00:00 UTC, all at once, so that a refusal can
 * say when. What a key has spent in a window is the sum of the credits of its tasks that were reserved in that window
 * and are not refunded: a refund gives its credits back to the window in which they were reserved. A task is admitted
 * if, together with it, no window is above its budget.
 */
export type Budgets = { readonly creditsPerDay: Credits | undefined; readonly creditsPerMonth: Credits | undefined };

/** What a key has spent in the current day and month, in credits. */
export type Spending = { readonly today: number; readonly thisMonth: number };

/** The task would exceed a budget. `left`: what the key may still spend in the window, which ends at `renewsAt`. */
export type BudgetSpent = {
  readonly kind: "budget_spent";
  readonly window: "day" | "month";
  readonly budget: Credits;
  readonly left: Credits;
  readonly cost: Credits;
  readonly renewsAt: Date;
};

/** A calendar day in UTC as the number `yyyymmdd`: days sort, and those of one month are next to each other. */
export type Day = Brand<number, "Day">;

/** The day in UTC. */
export const dayOf = (at: Date): Day =>
  (at.getUTCFullYear() * 10_000 + (at.getUTCMonth() + 1) * 100 + at.getUTCDate()) as Day;

/** Bounds of the month of `at`: every day of it lies from `first` to `last`, and no day of another month does. */
export const monthOf = (at: Date): { readonly first: Day; readonly last: Day } => {
  const month = Math.floor(dayOf(at) / 100) * 100;
  return { first: (month + 1) as Day, last: (month + 31) as Day };
};

/** Whether there is a limit for a day or for a month. */
export const hasBudget = ({ creditsPerDay, creditsPerMonth }: Budgets): boolean =>
  creditsPerDay !== undefined || creditsPerMonth !== undefined;

/** If both budgets are spent, the error names the month: the task would still be refused when the day renews. */
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
    return err({ kind: "budget_spent", window, budget, left, cost, renewsAt: endOfWindow(window, now) });
  }
  return ok(undefined);
};

/** The first moment of the window. */
export const startOf = (window: "day" | "month", at: Date): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), window === "day" ? at.getUTCDate() : 1));

/** The first moment after the window: when its budget renews. */
export const endOfWindow = (window: "day" | "month", now: Date): Date => {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
  return new Date(window === "day" ? Date.UTC(year, month, now.getUTCDate() + 1) : Date.UTC(year, month + 1, 1));
};
