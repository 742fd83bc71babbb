import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "./account.js";
import { type Credits, credits } from "./credits.js";
import type { TaskId } from "./task-id.js";

/**
 * Credits set aside for one task (specification, What the service does, 3).
 *
 *   held ──capture──▶ captured
 *     └────refund───▶ refunded
 *
 * Both ends are final, so a refund happens at most once.
 */
export type Reservation = HeldReservation | CapturedReservation | RefundedReservation;

type ReservationCore = { readonly taskId: TaskId; readonly accountId: AccountId; readonly credits: Credits };
export type HeldReservation = ReservationCore & { readonly state: "held" };
export type CapturedReservation = ReservationCore & { readonly state: "captured" };
export type RefundedReservation = ReservationCore & { readonly state: "refunded" };

export type InsufficientCredits = {
  readonly kind: "insufficient_credits";
  readonly balance: Credits;
  readonly cost: Credits;
};
export type AlreadyResolved = { readonly kind: "already_resolved"; readonly as: "captured" | "refunded" };

/** Takes the cost of a task off the balance; refuses rather than going below zero. */
export const hold = (
  balance: Credits,
  reserved: ReservationCore,
): Result<{ reservation: HeldReservation; balance: Credits }, InsufficientCredits> =>
  balance >= reserved.credits
    ? ok({ reservation: { ...reserved, state: "held" }, balance: credits(balance - reserved.credits) })
    : err({ kind: "insufficient_credits", balance, cost: reserved.credits });

/** The task succeeded: the credits are spent. */
export const capture = (reservation: Reservation): Result<CapturedReservation, AlreadyResolved> =>
  reservation.state === "held"
    ? ok({ ...reservation, state: "captured" })
    : err({ kind: "already_resolved", as: reservation.state });

/** The task failed: the credits go back. */
export const refund = (reservation: Reservation): Result<RefundedReservation, AlreadyResolved> =>
  reservation.state === "held"
    ? ok({ ...reservation, state: "refunded" })
    : err({ kind: "already_resolved", as: reservation.state });
