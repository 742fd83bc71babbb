import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import type { Credits } from "../../domain/credits.js";
import type { PendingOrder } from "../../domain/order.js";
import { type NotFound, notFound } from "../errors.js";
import type { AccountStore } from "../ports/account-store.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";

/** Orders credits; they are on the account once the order is paid (pay-order.ts). */
export const createOrder =
  ({ accounts, clock, ids }: { readonly accounts: AccountStore; readonly clock: Clock; readonly ids: Ids }) =>
  async (accountId: AccountId, credits: Credits): Promise<Result<PendingOrder, NotFound>> => {
    if (!(await accounts.exists(accountId))) return err(notFound(`There is no account ${accountId}.`));
    const order: PendingOrder = { id: ids.orderId(), accountId, credits, createdAt: clock.now(), state: "pending" };
    await accounts.insertOrder(order);
    return ok(order);
  };
