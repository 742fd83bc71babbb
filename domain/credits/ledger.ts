import type { AccountId, TaskId } from "../ids.js";
import type { AdjustmentReason, AdjustmentReference } from "./adjustment.js";
import type { Credits } from "./credits.js";
import type { OrderId, PaidOrder } from "./order.js";
import type { HeldReservation, RefundedReservation } from "./reservation.js";

/**
 * One entry of an account's ledger. Entries are only added, never changed. The balance is the sum of their `credits`:
 * positive for `purchase`, `refund` and `payment_restored`, negative for `reservation` and `payment_refund`. An
 * adjustment by the operator may be positive or negative.
 *
 * `payment_refund`: credits of an order are removed, because its payment was refunded or disputed, or the operator took
 * them back. `payment_restored`: the refund failed or the dispute was won, so they are added again. `debt`: positive
 * when debt is added, so that the balance does not fall below 0; negative when credits pay it (`book` in funds.ts).
 */
export type LedgerEntry = { readonly accountId: AccountId; readonly credits: number; readonly at: Date } & (
  | { readonly kind: "purchase" | "payment_refund" | "payment_restored"; readonly orderId: OrderId }
  | { readonly kind: "reservation" | "refund"; readonly taskId: TaskId }
  | {
      readonly kind: "adjustment";
      readonly reason: AdjustmentReason;
      /** The operator's reference. The account has at most one adjustment with it. */
      readonly reference?: AdjustmentReference | undefined;
    }
  | { readonly kind: "debt" }
);

export const purchaseEntry = (order: PaidOrder): LedgerEntry => ({
  kind: "purchase",
  accountId: order.accountId,
  orderId: order.id,
  credits: order.credits,
  at: order.paidAt,
});

/** The entry of a returned payment (payment-return.ts): `change` < 0 removes credits, > 0 adds them again. */
export const paymentReturnEntry = (
  order: Pick<PaidOrder, "id" | "accountId">,
  change: number,
  at: Date,
): LedgerEntry => ({
  kind: change < 0 ? "payment_refund" : "payment_restored",
  accountId: order.accountId,
  orderId: order.id,
  credits: change,
  at,
});

export const reservationEntry = ({ accountId, taskId, credits }: HeldReservation, at: Date): LedgerEntry => ({
  kind: "reservation",
  accountId,
  taskId,
  credits: -credits,
  at,
});

/** The entry of the credits that a failed task returns. */
export const refundEntry = ({ accountId, taskId, credits }: RefundedReservation, at: Date): LedgerEntry => ({
  kind: "refund",
  accountId,
  taskId,
  credits,
  at,
});

/** The entry of the welcome credits of an account that signed up. */
export const welcomeEntry = (accountId: AccountId, credits: Credits, at: Date): LedgerEntry => ({
  kind: "adjustment",
  accountId,
  reason: "Welcome credits" as AdjustmentReason,
  credits,
  at,
});

/** The sum of the entries, in credits. */
export const sumOf = (entries: readonly LedgerEntry[]): number =>
  entries.reduce((sum, entry) => sum + entry.credits, 0);
