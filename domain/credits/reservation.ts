import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../account-id.js";
import type { TaskId } from "../task-id.js";
import { type Credits, credits } from "./credits.js";

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
 * The price is higher than the balance. `debt`: the account owes credits, which the next purchase pays first.
 * `isSuspended`: a payment of the account is disputed, and until that has ended nothing can be created.
 */
export type InsufficientCredits = {
  readonly kind: "insufficient_credits";
  readonly balance: Credits;
  readonly cost: Credits;
  readonly debt?: Credits | undefined;
  readonly isSuspended?: true | undefined;
};

/** Subtracts the cost of a task from the balance. Refuses if the balance is lower than the cost. */
export const hold = (
  balance: Credits,
  reserved: ReservationCore,
): Result<{ reservation: HeldReservation; balance: Credits }, InsufficientCredits> =>
  balance >= reserved.credits
    ? ok({ reservation: { ...reserved, state: "held" }, balance: credits(balance - reserved.credits) })
    : err({ kind: "insufficient_credits", balance, cost: reserved.credits });

/** The task succeeded: the credits are spent. */
export const capture = (reservation: HeldReservation): CapturedReservation => ({ ...reservation, state: "captured" });

/** The task failed: the credits return to the account. */
export const refund = (reservation: HeldReservation): RefundedReservation => ({ ...reservation, state: "refunded" });
