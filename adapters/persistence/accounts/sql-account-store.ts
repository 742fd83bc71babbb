import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { AccountStore, EmailTaken, InitialContents } from "../../../application/ports/stores/account-stores.js";
import type { Account, Email } from "../../../domain/accounts/account.js";
import type { Credits } from "../../../domain/credits/credits.js";
import { purchaseEntry } from "../../../domain/credits/ledger.js";
import type { AccountId } from "../../../domain/ids.js";
import { entryRow } from "../credits/ledger-rows.js";
import { orderRow } from "../credits/order-rows.js";
import { changeEntities, EntityStore, inUnitOfWork } from "../database/orm/entities.js";
import { AccountTable, ApiKeyTable } from "../database/orm/entity-tables.js";
import { amount, branded, optional } from "../database/sql/columns.js";
import { insert } from "../database/sql/statement.js";
import { deleteAccess } from "./delete-access.js";
import { insertAccount } from "./insert-account.js";
import { apiKeyEntity } from "./sql-api-key-store.js";
import type { AccountReads } from "./visitor-rows.js";

/** Accounts in SQLite or PostgreSQL, without what `accountReads` reads. */
export class SqlAccountStore extends EntityStore implements Omit<AccountStore, keyof AccountReads> {
  open(
    account: Account,
    { passwordHash, order, key, welcome }: InitialContents = {},
  ): Promise<Result<void, EmailTaken>> {
    return inUnitOfWork(this.database, async (manager, sql) => {
      const credits = (order?.credits ?? 0) + (welcome?.credits ?? 0);
      if ((await insertAccount(sql, { ...account, passwordHash, credits }, "do nothing")) === undefined) {
        return err({ kind: "email_taken", email: account.email });
      }
      if (order !== undefined) {
        await insert(sql, "credit_order", orderRow(order));
        await insert(sql, "ledger_entry", entryRow(purchaseEntry(order)));
      }
      if (welcome !== undefined) await insert(sql, "ledger_entry", entryRow(welcome));
      if (key !== undefined) manager.create(ApiKeyTable, apiKeyEntity(key));
      return ok(undefined);
    });
  }

  replacePassword(id: AccountId, current: string, next: string): Promise<boolean> {
    return changeEntities(this.database, async (manager, sql) => {
      const known = { id, passwordHash: current };
      if ((await manager.nativeUpdate(AccountTable, known, { passwordHash: next })) === 0) return false;
      const account = await manager.findOneOrFail(AccountTable, id, { fields: ["email"] });
      await deleteAccess(sql, id, branded<Email>(account, "email"));
      return true;
    });
  }

  async lowBalance(id: AccountId): Promise<Credits | undefined> {
    const account = await this.entities.findOne(AccountTable, id, { fields: ["id", "lowBalanceThreshold"] });
    if (account === null) throw new Error(`there is no account ${id}`);
    return optional(account, "lowBalanceThreshold", amount);
  }

  async setLowBalance(id: AccountId, threshold: Credits | undefined): Promise<Result<void, NotFound>> {
    const open = { id, closedAt: null };
    const changed = await this.entities.nativeUpdate(AccountTable, open, { lowBalanceThreshold: threshold ?? null });
    return changed === 1 ? ok(undefined) : err(notFound(`There is no account ${id}.`));
  }
}
