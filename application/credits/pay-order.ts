import { err, ok, type Result } from "neverthrow";
import { type OrderId, type PaidOrder, pay, type RefundedOrder } from "../../domain/credits/order.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { OrderStore } from "../ports/stores/order-store.js";

/** What a payment needs. */
export type PayOrderPorts = {
  readonly orders: Pick<OrderStore, "find" | "pay">;
  readonly clock: Pick<Clock, "now">;
};

/** Adds the order's credits to its account, exactly once. For a paid order it changes nothing and returns the order. */
export const payOrder =
  ({ orders, clock }: PayOrderPorts) =>
  async (id: OrderId): Promise<Result<PaidOrder | RefundedOrder, NotFound>> => {
    const order = await orders.find(id);
    if (order === undefined) return err(notFound(`There is no order ${id}.`));
    const paid = pay(order, clock.now());
    if (paid.isErr()) return ok(paid.error.order);
    await orders.pay(paid.value);
    return ok(paid.value);
  };
