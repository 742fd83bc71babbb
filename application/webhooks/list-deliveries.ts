import type { AccountId } from "../../domain/account.js";
import { pageOf } from "../page-of.js";
import type { DeliveryId, DeliveryStore, ListedDelivery } from "../ports/delivery-store.js";

/** `next`: pass it as `before` to read the next page; `undefined` on the last page. */
export type DeliveryPage = { readonly deliveries: readonly ListedDelivery[]; readonly next: DeliveryId | undefined };

export type ListDeliveries = ReturnType<typeof listDeliveries>;

/** The account's deliveries of the last 30 days, newest first, `limit` at a time. */
export const listDeliveries =
  ({ deliveries }: { readonly deliveries: Pick<DeliveryStore, "list"> }) =>
  async (account: AccountId, limit: number, before?: DeliveryId): Promise<DeliveryPage> => {
    const { items, last } = pageOf(await deliveries.list(account, limit + 1, before), limit);
    return { deliveries: items, next: last?.id };
  };
