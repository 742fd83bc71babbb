import { err, ok, type Result } from "neverthrow";
import type { AccountId, TaskId } from "../ids.js";
import { type Credits, credits } from "./credits.js";
import { crossesLowBalance, type LowBalance, type Standing } from "./standing.js";

/**
 * Credits set aside for one task (specification, What the service does, 3).
 *
 *   held ──capture──▶ captured
 *     └────refund───▶ refunded
 *
 * Both ends are final: a reservation is refunded at most once.
 */
export type Reservation = HeldReservation | CapturedReservation | RefundedReservation;

type ReservationCore = { readonly taskId: TaskId; readonly accountId: AccountId; readonly credits: Credits };
/** Credits that are held while the task runs. */
export type HeldReservation = ReservationCore & { readonly state: "held" };
/** Credits that were spent. */
export type CapturedReservation = ReservationCore & { readonly state: "captured" };
/** Credits that went back to the account. */
export type RefundedReservation = ReservationCore & { readonly state: "refunded" };

/**
 * The price is higher than the balance. `debt`: owed credits, which the next purchase pays first. `hasOpenDispute`: an
 * open dispute blocks all creations of the account.
 */
export type InsufficientCredits = {
  readonly kind: "insufficient_credits";
  readonly balance: Credits;
  readonly cost: Credits;
  readonly debt?: Credits | undefined;
  readonly hasOpenDispute?: true | undefined;
};

/** Subtracts the cost of a task from the balance. Refuses if the balance is lower than the cost. */
export const holdCredits = (
  balance: Credits,
  reserved: ReservationCore,
): Result<{ reservation: HeldReservation; balance: Credits }, InsufficientCredits> =>
  balance >= reserved.credits
    ? ok({ reservation: { ...reserved, state: "held" }, balance: credits(balance - reserved.credits) })
    : err({ kind: "insufficient_credits", balance, cost: reserved.credits });

/** Spends the credits of a task that succeeded. */
export const capture = (reservation: HeldReservation): CapturedReservation => ({ ...reservation, state: "captured" });

/** Returns the credits of a failed task to the account. */
export const refund = (reservation: HeldReservation): RefundedReservation => ({ ...reservation, state: "refunded" });

/**
 * The reservation of a new task, and the standing with this task included. `lowBalance`: set if the task has made the
 * balance fall below the account's threshold.
 */
export type ReserveResult = {
  readonly reservation: HeldReservation;
  readonly standing: Standing;
  readonly lowBalance?: LowBalance | undefined;
};

/**
 * Reserves the credits of a task and a slot of its account. Checks in this order, as the specification demands: debt,
 * credits, `admitCost`, active tasks.
 */
export const reserve = <Refusal = never>(
  standing: Standing,
  { taskId, cost }: { readonly taskId: TaskId; readonly cost: Credits },
  activeMax: number,
  admitCost?: () => Result<void, Refusal>,
): Result<ReserveResult, InsufficientCredits | TooManyActiveTasks | Refusal> => {
  const { accountId, debt, lowBalanceThreshold: threshold = credits(0) } = standing; // no balance is below 0
  if (debt !== undefined) return err({ kind: "insufficient_credits", balance: standing.credits, cost, debt });
  const held = holdCredits(standing.credits, { taskId, accountId, credits: cost });
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

/** The standing after a task has ended: its slot is free. The store writes the refund by the rule of funds.ts. */
export const release = (standing: Standing): Standing => ({ ...standing, activeTasks: standing.activeTasks - 1 });

/** The account already has `limit` tasks in processing. */
export type TooManyActiveTasks = { readonly kind: "too_many_active_tasks"; readonly limit: number };

/** Returns the number of active tasks with one more admitted. `max`: the maximum of an account. */
export const admitTask = (activeTasks: number, max: number): Result<number, TooManyActiveTasks> =>
  activeTasks < max ? ok(activeTasks + 1) : err({ kind: "too_many_active_tasks", limit: max });
