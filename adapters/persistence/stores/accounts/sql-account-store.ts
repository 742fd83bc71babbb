import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../../application/errors.js";
import type {
  AccountBeginning,
  AccountStore,
  EmailTaken,
} from "../../../../application/ports/stores/account-stores.js";
import type { Account, Email } from "../../../../domain/accounts/account.js";
import type { Credits } from "../../../../domain/credits/credits.js";
import { purchaseEntry } from "../../../../domain/credits/ledger.js";
import type { AccountId } from "../../../../domain/ids.js";
import { apiKeyRow, orderRow, toAccount } from "../../rows/account-rows.js";
import { deleteAccess } from "../../rows/delete-access.js";
import { entryRow } from "../../rows/ledger-rows.js";
import { amount, branded, optional, text } from "../../sql/columns.js";
import type { Database } from "../../sql/database.js";
import { insert } from "../../sql/insert.js";

/** Accounts in SQLite or PostgreSQL. */
export class SqlAccountStore implements AccountStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  open(
    account: Account,
    { passwordHash, order, key, welcome }: AccountBeginning = {},
  ): Promise<Result<void, EmailTaken>> {
    return this.database.transaction(async (sql) => {
      const inserted = await sql(
        `insert into account (id, email, password_hash, credits, active_tasks, created_at) values (?, ?, ?, ?, 0, ?)
        on conflict (email) do nothing returning id`,
        [
          account.id,
          account.email,
          passwordHash ?? null,
          (order?.credits ?? 0) + (welcome?.credits ?? 0),
          account.createdAt,
        ],
      );
      if (inserted.length === 0) return err({ kind: "email_taken", email: account.email });
      if (order !== undefined) {
        await insert(sql, "credit_order", orderRow(order));
        await insert(sql, "ledger_entry", entryRow(purchaseEntry(order)));
      }
      if (welcome !== undefined) await insert(sql, "ledger_entry", entryRow(welcome));
      if (key !== undefined) await insert(sql, "api_key", apiKeyRow(key));
      return ok(undefined);
    });
  }

  async isEmpty(): Promise<boolean> {
    return (await this.database.sql("select id from account limit 1")).length === 0;
  }

  async exists(id: AccountId): Promise<boolean> {
    return (await this.database.sql("select id from account where id = ?", [id])).length === 1;
  }

  async find(id: AccountId): Promise<Account | undefined> {
    const [row] = await this.database.sql("select * from account where id = ?", [id]);
    return row && toAccount(row);
  }

  async findByEmail(email: Email): Promise<{ account: Account; passwordHash: string | undefined } | undefined> {
    const [row] = await this.database.sql("select * from account where email = ?", [email]);
    return row && { account: toAccount(row), passwordHash: optional(row, "password_hash", text) };
  }

  async replacePassword(id: AccountId, current: string, next: string): Promise<boolean> {
    const replaced = await this.database.transaction<boolean, never>(async (sql) => {
      const [row] = await sql(
        "update account set password_hash = ? where id = ? and password_hash = ? returning email",
        [next, id, current],
      );
      if (row !== undefined) await deleteAccess(sql, id, branded<Email>(row, "email"));
      return ok(row !== undefined);
    });
    return replaced._unsafeUnwrap();
  }

  async lowBalance(id: AccountId): Promise<Credits | undefined> {
    const [row] = await this.database.sql("select id, low_balance_threshold from account where id = ?", [id]);
    if (row === undefined) throw new Error(`there is no account ${id}`);
    return optional(row, "low_balance_threshold", amount);
  }

  async setLowBalance(id: AccountId, threshold: Credits | undefined): Promise<Result<void, NotFound>> {
    const set = "update account set low_balance_threshold = ? where id = ? returning id";
    const changed = await this.database.sql(set, [threshold ?? null, id]);
    return changed.length === 1 ? ok(undefined) : err(notFound(`There is no account ${id}.`));
  }
}
