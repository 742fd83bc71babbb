import { err, ok, type Result } from "neverthrow";
import type { Credits } from "../../domain/credits/credits.js";
import {
  type Order,
  type OrderId,
  openOrder,
  type PaidOrder,
  type PendingOrder,
  parseOrderId,
  pay,
  type RefundedOrder,
} from "../../domain/credits/order.js";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { ApplicationPorts } from "../ports/application-ports.js";

/** Orders of credits, without the payment service. */
export function orders(ports: Pick<ApplicationPorts, "accounts" | "orders" | "clock" | "ids">) {
  const { accounts, clock, ids } = ports;
  return {
    /**
     * Creates an order for an account on behalf of the operator, without the limit for customers (`buy`). The account
     * receives the credits when the order is paid (`payOrder`).
     */
    async createOrder(accountId: AccountId, credits: Credits): Promise<Result<PendingOrder, NotFound>> {
      if (!(await accounts.exists(accountId))) return err(notFound(`There is no account ${accountId}.`));
      const order = openOrder(ids.orderId(), accountId, credits, clock.now());
      const inserted = await ports.orders.insert(order);
      return inserted.map(() => order).mapErr(() => notFound(`Account ${accountId} is closed.`));
    },

    /** An order of the account, for its receipt. Another account's order gives `not_found`, as an unknown id does. */
    async readOrder(owner: AccountId, text: string): Promise<Result<Order, NotFound>> {
      const id = parseOrderId(text);
      const order = id && (await ports.orders.find(id));
      return order?.accountId === owner ? ok(order) : err(notFound("There is no such order."));
    },

    /**
     * Adds the order's credits to its account, exactly once. For a paid order it changes nothing and returns the order.
     */
    async payOrder(id: OrderId): Promise<Result<PaidOrder | RefundedOrder, NotFound>> {
      const order = await ports.orders.find(id);
      if (order === undefined) return err(notFound(`There is no order ${id}.`));
      const paid = pay(order, clock.now());
      if (paid.isErr()) return ok(paid.error.order);
      const stored = await ports.orders.pay(paid.value);
      if (stored === undefined || stored.state === "pending") {
        return err(notFound(`The order ${id} was canceled. No credits were added.`));
      }
      return ok(stored);
    },

    /**
     * Deletes an unpaid order of the account without a checkout: it has moved no credits. An order with a checkout
     * stays, because its payment may still arrive; it gives `not_found`.
     */
    async cancelOrder(owner: AccountId, text: string): Promise<Result<void, NotFound>> {
      const id = parseOrderId(text);
      return id && (await ports.orders.cancel(id, owner))
        ? ok(undefined)
        : err(notFound("There is no such order that can be canceled."));
    },
  };
}
