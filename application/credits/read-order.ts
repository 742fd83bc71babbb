import { err, ok, type Result } from "neverthrow";
import { type Order, parseOrderId } from "../../domain/credits/order.js";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { OrderStore } from "../ports/stores/order-store.js";

/** An order of the account, for its receipt. The order of somebody else is `not_found`, as an unknown id is. */
export const readOrder =
  ({ orders }: { readonly orders: Pick<OrderStore, "find"> }) =>
  async (owner: AccountId, text: string): Promise<Result<Order, NotFound>> => {
    const id = parseOrderId(text);
    const order = id && (await orders.find(id));
    return order?.accountId === owner ? ok(order) : err(notFound("There is no such order."));
  };
