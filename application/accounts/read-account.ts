import type { AccountId } from "../../domain/account.js";
import type { ApiKey } from "../../domain/api-key.js";
import type { Credits } from "../../domain/credits.js";
import type { LedgerCursor, LedgerEntry } from "../../domain/ledger.js";
import type { Order, OrderId } from "../../domain/order.js";
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
    // Reads one item more than a page to find out whether there is another page.
    const limit = ACCOUNT_PAGE_SIZE + 1;
    const [credits, paidOrders, liveKeys, foundOrders, foundLines] = await Promise.all([
      ledger.balance(id),
      orders.countPaid(id),
      keys.listLive(id),
      orders.list(id, limit, ordersBefore),
      ledger.list(id, limit, ledgerBefore),
    ]);
    const ordersPage = foundOrders.slice(0, ACCOUNT_PAGE_SIZE);
    const lines = foundLines.slice(0, ACCOUNT_PAGE_SIZE);
    return {
      credits,
      hasPaidOrder: paidOrders > 0,
      keys: liveKeys,
      orders: ordersPage,
      nextOrders: foundOrders.length > ACCOUNT_PAGE_SIZE ? ordersPage.at(-1)?.id : undefined,
      ledger: lines.map(({ entry }) => entry),
      nextLedger: foundLines.length > ACCOUNT_PAGE_SIZE ? lines.at(-1)?.cursor : undefined,
    };
  };
