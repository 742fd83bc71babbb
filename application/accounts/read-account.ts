import type { AccountId } from "../../domain/account.js";
import type { ApiKey } from "../../domain/api-key.js";
import type { Credits } from "../../domain/credits.js";
import type { LedgerEntry } from "../../domain/ledger.js";
import type { Order } from "../../domain/order.js";
import type { AccountStore } from "../ports/account-store.js";

export type AccountOverview = {
  readonly credits: Credits;
  /** Newest first, all of it. */
  readonly ledger: readonly LedgerEntry[];
  /** Newest first. */
  readonly orders: readonly Order[];
  /** Newest first, without the revoked ones. */
  readonly keys: readonly ApiKey[];
};

export type ReadAccount = ReturnType<typeof readAccount>;

/** What the account page shows. */
export const readAccount =
  ({ accounts }: { readonly accounts: AccountStore }) =>
  async (id: AccountId): Promise<AccountOverview> => {
    const [credits, ledger, orders, keys] = await Promise.all([
      accounts.credits(id),
      accounts.ledger(id),
      accounts.listOrders(id),
      accounts.listKeys(id),
    ]);
    const valid = keys.filter(({ revokedAt }) => revokedAt === undefined);
    return { credits, ledger: ledger.toReversed(), orders, keys: valid.toReversed() };
  };
