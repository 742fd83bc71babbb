import { err, ok, type Result } from "neverthrow";
import { parseOrderId } from "../../domain/credits/order.js";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { OrderStore } from "../ports/stores/order-store.js";

/**
 * The customer withdraws an unpaid order whose payment the operator would confirm. The order is deleted: it has moved
 * no credits. An order with a checkout stays, because its payment may still arrive; it is `not_found` here, too.
 */
export const cancelOrder =
  ({ orders }: { readonly orders: Pick<OrderStore, "cancel"> }) =>
  async (owner: AccountId, text: string): Promise<Result<void, NotFound>> => {
    const id = parseOrderId(text);
    return id !== undefined && (await orders.cancel(id, owner))
      ? ok(undefined)
      : err(notFound("There is no such order that can be canceled."));
  };
