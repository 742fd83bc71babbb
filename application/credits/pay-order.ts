import { err, ok, type Result } from "neverthrow";
import { type OrderId, type PaidOrder, pay } from "../../domain/order.js";
import { type NotFound, notFound } from "../errors.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";

/** Adds an order's credits to its account, once: paying a paid order again changes nothing and is no error. */
export const payOrder =
  ({ accounts, clock }: { readonly accounts: AccountStore; readonly clock: Clock }) =>
  async (id: OrderId): Promise<Result<PaidOrder, NotFound>> => {
    const order = await accounts.findOrder(id);
    if (order === undefined) return err(notFound(`There is no order ${id}.`));
    const paid = pay(order, clock.now());
    if (paid.isErr()) return ok(paid.error.order);
    await accounts.payOrder(paid.value);
    return ok(paid.value);
  };
