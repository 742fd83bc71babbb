import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { AccountStore, EmailTaken } from "../../application/ports/account-store.js";
import type { Account, AccountId, Email, Standing } from "../../domain/account.js";
import type { ApiKey, ApiKeyId } from "../../domain/api-key.js";
import { type Credits, credits } from "../../domain/credits.js";
import { type LedgerEntry, purchaseEntry } from "../../domain/ledger.js";
import type { Order, OrderId, PaidOrder, PendingOrder } from "../../domain/order.js";
import type { Task } from "../../domain/task.js";
import { apiKeyRow, orderRow, standingOf, toAccount, toApiKey, toOrder } from "./account-rows.js";
import { branded, integer, optional, text } from "./columns.js";
import type { Database, Sql } from "./database.js";
import { insert } from "./insert.js";
import { entryRow, toLedgerEntry } from "./ledger-rows.js";
import { toTask } from "./task-rows.js";

/** Accounts read at a time by the audit. */
const LEDGERS_PAGE = 500;

/** Accounts in SQLite or PostgreSQL. */
export class SqlAccountStore implements AccountStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  open(
    account: Account,
    passwordHash: string | undefined,
    order: PaidOrder | undefined,
    key: ApiKey | undefined,
  ): Promise<Result<void, EmailTaken>> {
    return this.database.transaction(async (sql) => {
      const inserted = await sql(
        `insert into account (id, email, password_hash, credits, active_tasks, created_at) values (?, ?, ?, ?, 0, ?)
        on conflict (email) do nothing returning id`,
        [account.id, account.email, passwordHash ?? null, order?.credits ?? 0, account.createdAt],
      );
      if (inserted.length === 0) return err({ kind: "email_taken", email: account.email });
      if (order !== undefined) {
        await insert(sql, "credit_order", orderRow(order));
        await insert(sql, "ledger_entry", entryRow(purchaseEntry(order)));
      }
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

  async credits(id: AccountId): Promise<Credits> {
    const [row] = await this.database.sql("select id, credits from account where id = ?", [id]);
    if (row === undefined) throw new Error(`there is no account ${id}`);
    return credits(integer(row, "credits"));
  }

  ledger(id: AccountId): Promise<LedgerEntry[]> {
    return entriesOf(this.database.sql, id);
  }

  async insertOrder(order: PendingOrder): Promise<void> {
    await insert(this.database.sql, "credit_order", orderRow(order));
  }

  async listOrders(id: AccountId): Promise<Order[]> {
    const rows = await this.database.sql("select * from credit_order where account_id = ? order by id desc", [id]);
    return rows.map(toOrder);
  }

  async findOrder(id: OrderId): Promise<Order | undefined> {
    const [row] = await this.database.sql("select * from credit_order where id = ?", [id]);
    return row && toOrder(row);
  }

  async payOrder(order: PaidOrder): Promise<void> {
    await this.database.transaction<void, never>(async (sql) => {
      const paid = await sql("update credit_order set paid_at = ? where id = ? and paid_at is null returning id", [
        order.paidAt,
        order.id,
      ]);
      if (paid.length === 0) return ok(undefined);
      await sql("update account set credits = credits + ? where id = ?", [order.credits, order.accountId]);
      await insert(sql, "ledger_entry", entryRow(purchaseEntry(order)));
      return ok(undefined);
    });
  }

  async countPaidOrders(id: AccountId): Promise<number> {
    const paid = "select id from credit_order where account_id = ? and paid_at is not null";
    return (await this.database.sql(paid, [id])).length;
  }

  async insertKey(key: ApiKey): Promise<void> {
    await insert(this.database.sql, "api_key", apiKeyRow(key));
  }

  async findKey(secretSha256: string): Promise<ApiKey | undefined> {
    const live = "select * from api_key where secret_sha256 = ? and revoked_at is null";
    const [row] = await this.database.sql(live, [secretSha256]);
    return row && toApiKey(row);
  }

  async listKeys(id: AccountId): Promise<ApiKey[]> {
    const rows = await this.database.sql("select * from api_key where account_id = ? order by id", [id]);
    return rows.map(toApiKey);
  }

  async revokeKey(id: ApiKeyId, now: Date): Promise<Result<void, NotFound>> {
    const revoke = "update api_key set revoked_at = coalesce(revoked_at, ?) where id = ? returning id";
    const revoked = await this.database.sql(revoke, [now, id]);
    return revoked.length === 1 ? ok(undefined) : err(notFound(`There is no key ${id}.`));
  }

  async *ledgers(): AsyncIterable<{ standing: Standing; entries: LedgerEntry[]; tasks: Task[] }> {
    const nextPage = "select id from account where id > ? order by id limit ?";
    let last = "";
    for (;;) {
      const page = await this.database.sql(nextPage, [last, LEDGERS_PAGE]);
      for (const row of page) {
        const id = branded<AccountId>(row, "id");
        last = id;
        yield await this.database.snapshot((sql) => ledgerOf(sql, id));
      }
      if (page.length < LEDGERS_PAGE) return;
    }
  }
}

const ledgerOf = async (sql: Sql, id: AccountId) => {
  const [row] = await sql("select id, credits, active_tasks from account where id = ?", [id]);
  if (row === undefined) throw new Error(`there is no account ${id}`);
  const tasks = await sql("select * from task where account_id = ?", [id]);
  return { standing: standingOf(id, row), entries: await entriesOf(sql, id), tasks: tasks.map(toTask) };
};

const entriesOf = async (sql: Sql, id: AccountId): Promise<LedgerEntry[]> => {
  const rows = await sql("select * from ledger_entry where account_id = ? order by id", [id]);
  return rows.map(toLedgerEntry);
};
