import type { AccountId } from "../../domain/account.js";
import type { ApiKey } from "../../domain/api-key.js";
import type { Credits } from "../../domain/credits.js";
import type { LedgerCursor, LedgerEntry } from "../../domain/ledger.js";
import type { Order, OrderId } from "../../domain/order.js";
import { pageOf } from "../page-of.js";
import type { ApiKeyStore } from "../ports/api-key-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { OrderStore } from "../ports/order-store.js";

type Ports = {
  readonly orders: Pick<OrderStore, "list" | "countPaid">;
  readonly keys: Pick<ApiKeyStore, "listLive">;
  readonly ledger: Pick<LedgerStore, "balance" | "list">;
};

/** Orders and ledger entries that one page shows. */
export const ACCOUNT_PAGE_SIZE = 20;

/** Where the two lists begin; `undefined`: with the newest. */
export type AccountPlaces = {
  readonly ordersBefore?: OrderId | undefined;
  readonly ledgerBefore?: LedgerCursor | undefined;
};

/** The lists are newest first. `nextOrders`, `nextLedger`: where the next page begins; `undefined` on the last page. */
export type AccountOverview = {
  readonly credits: Credits;
  readonly hasPaidOrder: boolean;
  /** Keys that are not revoked. */
  readonly keys: readonly ApiKey[];
  readonly orders: readonly Order[];
  readonly nextOrders: OrderId | undefined;
  readonly ledger: readonly LedgerEntry[];
  readonly nextLedger: LedgerCursor | undefined;
};

export type ReadAccount = ReturnType<typeof readAccount>;

/** Reads what the account page shows. Throws if the account does not exist. */
export const readAccount =
  ({ orders, keys, ledger }: Ports) =>
  async (id: AccountId, { ordersBefore, ledgerBefore }: AccountPlaces = {}): Promise<AccountOverview> => {
    const limit = ACCOUNT_PAGE_SIZE + 1;
    const [credits, paidOrders, liveKeys, foundOrders, foundLines] = await Promise.all([
      ledger.balance(id),
      orders.countPaid(id),
      keys.listLive(id),
      orders.list(id, limit, ordersBefore),
      ledger.list(id, limit, ledgerBefore),
    ]);
    const orderPage = pageOf(foundOrders, ACCOUNT_PAGE_SIZE);
    const ledgerPage = pageOf(foundLines, ACCOUNT_PAGE_SIZE);
    return {
      credits,
      hasPaidOrder: paidOrders > 0,
      keys: liveKeys,
      orders: orderPage.items,
      nextOrders: orderPage.last?.id,
      ledger: ledgerPage.items.map(({ entry }) => entry),
      nextLedger: ledgerPage.last?.cursor,
    };
  };
