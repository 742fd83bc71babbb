import { err, type Result } from "neverthrow";
import type { TaskId } from "../task-id.js";
import { admitTask, type TooManyActiveTasks } from "./concurrency-limit.js";
import { type Credits, credits } from "./credits.js";
import { crossesLowBalance, type LowBalance } from "./low-balance.js";
import { type HeldReservation, hold, type InsufficientCredits } from "./reservation.js";
import type { Standing } from "./standing.js";

/**
 * The reservation of a new task, and the standing of its account with this task included. `lowBalance`: with this task,
 * the balance has fallen below the account's threshold.
 */
export type Reserved = {
  readonly reservation: HeldReservation;
  readonly standing: Standing;
  readonly lowBalance?: LowBalance | undefined;
};

/**
 * Reserves the credits of a task and a slot of its account. Checks debt and credits first, then what `admitCost`
 * checks, then the active tasks, in the order that the specification demands.
 */
export const reserve = <Refusal = never>(
  standing: Standing,
  { taskId, cost }: { readonly taskId: TaskId; readonly cost: Credits },
  activeMax: number,
  admitCost?: () => Result<void, Refusal>,
): Result<Reserved, InsufficientCredits | TooManyActiveTasks | Refusal> => {
  const { accountId, debt, lowBalanceThreshold: threshold = credits(0) } = standing; // no balance is below 0
  if (debt !== undefined) return err({ kind: "insufficient_credits", balance: standing.credits, cost, debt });
  const held = hold(standing.credits, { taskId, accountId, credits: cost });
  if (held.isErr()) return err(held.error);
  const { reservation, balance } = held.value;
  const within = admitCost?.();
  if (within?.isErr()) return err(within.error);
  return admitTask(standing.activeTasks, activeMax).map((activeTasks) => ({
    reservation,
    standing: { ...standing, credits: balance, activeTasks },
    ...(crossesLowBalance(standing.credits, balance, threshold) && { lowBalance: { balance, threshold } }),
  }));
};

/** The standing after a task has ended: its slot is free. Refunded credits are booked with their entry (ledger.ts). */
export const release = (standing: Standing): Standing => ({ ...standing, activeTasks: standing.activeTasks - 1 });
