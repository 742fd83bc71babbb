import { err, ok, type Result } from "neverthrow";
import type { AccountSuspended } from "../accounts/account.js";
import { admitSpending, type BudgetSpent, type Budgets, type Spending } from "../credits/budget.js";
import type { Rate } from "../credits/rate-limit.js";
import { type InsufficientCredits, reserve, type TooManyActiveTasks } from "../credits/reservation.js";
import type { LowBalance, Standing } from "../credits/standing.js";
import type { Prices } from "../images/resolution.js";
import { admitAfterFailures, type TooManyFailures } from "./failure-budget.js";
import type { QueuedTask, SubmittingTask } from "./task.js";

/**
 * A new task, and the standing of its account with this task included. `lowBalance`: set if this task has made the
 * balance fall below the account's threshold.
 */
export type OpenedTask = {
  readonly task: QueuedTask | SubmittingTask;
  readonly standing: Standing;
  readonly lowBalance?: LowBalance | undefined;
};

/** Budgets and spending of the key that creates a task. */
export type BudgetState = { readonly budgets: Budgets; readonly spending: Spending };

/** Reasons why no task is opened. Nothing is charged. */
export type OpeningRefusal =
  | AccountSuspended
  | InsufficientCredits
  | BudgetSpent
  | TooManyFailures
  | TooManyActiveTasks;

/** A task before it is opened. */
export type TaskDraft = Pick<QueuedTask, "id" | "slug" | "request"> &
  Partial<Pick<QueuedTask, "apiKeyId" | "traceparent">>;

/** Terms of a new task besides the standing of its account. */
export type OpeningTerms = {
  /** Prices and limits. `rates.write`: the maximum of failures per day follows from it (failure-budget.ts). */
  readonly policy: {
    readonly prices: Prices;
    readonly activeMax: number;
    readonly rates: { readonly write: Rate };
    /** If true, accounts with an open dispute cannot create. Default: false. */
    readonly suspendOnDispute?: boolean | undefined;
  };
  readonly now: Date;
  /** Turn in the queue. `undefined`: the task does not wait, and becomes `submitting`. */
  readonly turn?: number | undefined;
  /** The provider place whose slot a `submitting` task holds. */
  readonly place?: string | undefined;
  readonly budget?: BudgetState | undefined;
};

/**
 * Opens a task if the account and the key's budget allow it. Checks in this order, as the specification demands:
 * suspension, open disputes, debt, credits, the key's budget, today's failures, active tasks.
 */
export const openTask = (
  standing: Standing,
  draft: TaskDraft,
  { policy, now, turn, place, budget }: OpeningTerms,
): Result<OpenedTask, OpeningRefusal> => {
  const { accountId, failures } = standing;
  const { prices, activeMax, rates } = policy;
  const cost = prices[draft.request.resolution];
  const { suspensionReason: reason } = standing;
  if (reason !== undefined) return err({ kind: "account_suspended", reason });
  if (policy.suspendOnDispute && (standing.openDisputes ?? 0) > 0) {
    return err({ kind: "insufficient_credits", balance: standing.credits, cost, hasOpenDispute: true });
  }
  const admitByBudgetAndFailures = (): Result<void, BudgetSpent | TooManyFailures> => {
    const admitted = budget === undefined ? ok(undefined) : admitSpending(budget.budgets, budget.spending, cost, now);
    return admitted.isErr() ? admitted : admitAfterFailures(failures, rates.write, now);
  };
  return reserve(standing, { taskId: draft.id, cost }, activeMax, admitByBudgetAndFailures).map(
    ({ reservation, standing: after, lowBalance }) => {
      const core = { ...draft, apiKeyId: draft.apiKeyId, accountId, reservedAt: now, reservation, submissions: 0 };
      const task: OpenedTask["task"] =
        turn === undefined
          ? { ...core, state: "submitting", turn: undefined, place }
          : { ...core, state: "queued", turn };
      return { task, standing: after, ...(lowBalance && { lowBalance }) };
    },
  );
};
