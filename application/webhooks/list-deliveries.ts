import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import { type NotFound, notFound } from "../errors.js";
import { pageOf } from "../page-of.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { DeliveryId, DeliveryStore, ListedDelivery } from "../ports/stores/delivery-store.js";

/** `next`: pass it as `before` to read the next page; `undefined` on the last page. */
export type DeliveryPage = { readonly deliveries: readonly ListedDelivery[]; readonly next: DeliveryId | undefined };

type Ports = {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly deliveries: Pick<DeliveryStore, "list">;
};

/** The account's deliveries of the last 30 days, newest first, `limit` at a time. */
export const listDeliveries =
  ({ accounts, deliveries }: Ports) =>
  async (account: AccountId, limit: number, before?: DeliveryId): Promise<Result<DeliveryPage, NotFound>> => {
    if (!(await accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
    const { items, last } = pageOf(await deliveries.list(account, limit + 1, before), limit);
    return ok({ deliveries: items, next: last?.id });
  };
