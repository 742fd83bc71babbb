import { err, ok, type Result } from "neverthrow";
import { credits } from "../../domain/credits/credits.js";
import type { AdjustmentReason } from "../../domain/credits/ledger.js";
import type { Order, OrderId } from "../../domain/credits/order.js";
import { leftToTake } from "../../domain/credits/payment-return.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { OrderStore } from "../ports/stores/order-store.js";

type Ports = {
  readonly orders: Pick<OrderStore, "find" | "returnByHand">;
  readonly clock: Pick<Clock, "now">;
};

/** The order is not paid, or has only `left` credits that were not taken back by hand yet. */
export type CannotRefund = { readonly kind: "not_paid" } | { readonly kind: "too_many_credits"; readonly left: number };

/**
 * For the operator, who returns money by hand: takes back `amount` credits of a paid order, or all that are left. What
 * was spent already becomes debt. Moves no money.
 */
export const refundOrder =
  ({ orders, clock }: Ports) =>
  async (
    id: OrderId,
    amount: number | undefined,
    reason: AdjustmentReason,
  ): Promise<Result<Order, NotFound | CannotRefund>> => {
    if ((await orders.find(id)) === undefined) return err(notFound(`There is no order ${id}.`));
    const at = clock.now();
    return orders.returnByHand<CannotRefund>(id, at, (order, returns) => {
      if (order.state === "pending") return err({ kind: "not_paid" });
      const left = leftToTake(order.credits, returns);
      const taken = amount ?? left;
      if (left === 0 || taken > left) return err({ kind: "too_many_credits", left });
      const number = returns.filter(({ kind }) => kind === "operator").length + 1;
      return ok({ id: `hand_${id}_${number}`, kind: "operator", credits: credits(taken), reason, at });
    });
  };
