import { err, ok, type Result } from "neverthrow";
import type { Credits } from "../../domain/credits/credits.js";
import { openOrder, type PendingOrder } from "../../domain/credits/order.js";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { OrderStore } from "../ports/stores/order-store.js";

type Ports = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly orders: Pick<OrderStore, "insert">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "orderId">;
};

/**
 * The operator orders credits for an account, without the limit for customers (buy-credits.ts). The account receives
 * them when the order is paid (pay-order.ts).
 */
export const createOrder =
  ({ accounts, orders, clock, ids }: Ports) =>
  async (accountId: AccountId, credits: Credits): Promise<Result<PendingOrder, NotFound>> => {
    if (!(await accounts.exists(accountId))) return err(notFound(`There is no account ${accountId}.`));
    const order = openOrder(ids.orderId(), accountId, credits, clock.now());
    await orders.insert(order);
    return ok(order);
  };
