import type { Credits, CreditTotals } from "../../domain/credits/credits.js";
import type { EntryPlace } from "../../domain/credits/ledger-page.js";
import type { Order, OrderId } from "../../domain/credits/order.js";
import type { AccountId } from "../../domain/ids.js";
import { type EntryLine, listEntries } from "../list-entries.js";
import { pageOf } from "../page-of.js";
import type { Clock } from "../ports/clock.js";
import type { AccountStore, ApiKeyStore } from "../ports/stores/account-stores.js";
import type { LedgerStore, OrderStore } from "../ports/stores/ledger-store.js";
import { type KeyWithSpending, withSpending } from "./api-keys.js";

type Ports = {
  readonly orders: Pick<OrderStore, "list" | "countPaid">;
  readonly keys: Pick<ApiKeyStore, "listLive" | "spending">;
  readonly ledger: Pick<LedgerStore, "totals" | "list">;
  readonly accounts: Pick<AccountStore, "lowBalance">;
  readonly clock: Pick<Clock, "now">;
};

/** Orders and ledger entries per page. */
export const ACCOUNT_PAGE_SIZE = 20;

/** Cursors of the two lists; `undefined`: newest first. */
export type AccountPlaces = {
  readonly ordersBefore?: OrderId | undefined;
  readonly ledgerBefore?: EntryPlace | undefined;
};

/** Both lists are newest first. `nextOrders`, `nextLedger`: cursor of the next page; `undefined` on the last page. */
export type AccountOverview = {
  readonly credits: CreditTotals;
  /** The low-balance threshold (domain/credits/standing.ts). */
  readonly lowBalance: Credits | undefined;
  readonly hasPaidOrder: boolean;
  /** Keys that are not revoked. */
  readonly keys: readonly KeyWithSpending[];
  readonly orders: readonly Order[];
  readonly nextOrders: OrderId | undefined;
  readonly ledger: readonly EntryLine[];
  readonly nextLedger: EntryPlace | undefined;
};

/** Reads what the account page shows. Throws if the account does not exist. */
export const readAccount =
  ({ orders, keys, ledger, accounts, clock }: Ports) =>
  async (id: AccountId, { ordersBefore, ledgerBefore }: AccountPlaces = {}): Promise<AccountOverview> => {
    const [credits, lowBalance, paidOrders, liveKeys, spending, foundOrders, entryPage] = await Promise.all([
      ledger.totals(id),
      accounts.lowBalance(id),
      orders.countPaid(id),
      keys.listLive(id),
      keys.spending(id, clock.now()),
      orders.list(id, ACCOUNT_PAGE_SIZE + 1, ordersBefore),
      listEntries({ ledger })(id, ACCOUNT_PAGE_SIZE, ledgerBefore),
    ]);
    const orderPage = pageOf(foundOrders, ACCOUNT_PAGE_SIZE);
    return {
      credits,
      lowBalance,
      hasPaidOrder: paidOrders > 0,
      keys: withSpending(liveKeys, spending),
      orders: orderPage.items,
      nextOrders: orderPage.last?.id,
      ledger: entryPage.entries,
      nextLedger: entryPage.next,
    };
  };
