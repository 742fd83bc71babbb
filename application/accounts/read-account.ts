import type { AccountId } from "../../domain/account.js";
import type { ApiKey } from "../../domain/api-key.js";
import type { Credits } from "../../domain/credits.js";
import type { LedgerEntry } from "../../domain/ledger.js";
import type { Order } from "../../domain/order.js";
import type { ApiKeyStore } from "../ports/api-key-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { OrderStore } from "../ports/order-store.js";

type Ports = {
  readonly orders: Pick<OrderStore, "list">;
  readonly keys: Pick<ApiKeyStore, "list">;
  readonly ledger: Pick<LedgerStore, "balance" | "entries">;
};

export type AccountOverview = {
  readonly credits: Credits;
  /** All entries, newest first. */
  readonly ledger: readonly LedgerEntry[];
  /** Newest first. */
  readonly orders: readonly Order[];
  /** Keys that are not revoked, newest first. */
  readonly keys: readonly ApiKey[];
};

export type ReadAccount = ReturnType<typeof readAccount>;

/** Reads what the account page shows. Throws if the account does not exist. */
export const readAccount =
  ({ orders, keys, ledger }: Ports) =>
  async (id: AccountId): Promise<AccountOverview> => {
    const [credits, entries, allOrders, allKeys] = await Promise.all([
      ledger.balance(id),
      ledger.entries(id),
      orders.list(id),
      keys.list(id),
    ]);
    const liveKeys = allKeys.filter(({ revokedAt }) => revokedAt === undefined);
    return { credits, ledger: entries.toReversed(), orders: allOrders, keys: liveKeys.toReversed() };
  };
