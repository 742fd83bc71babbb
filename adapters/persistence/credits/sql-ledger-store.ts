import type {
  AccountLedger,
  LedgerLine,
  LedgerPart,
  LedgerStore,
} from "../../../application/ports/stores/ledger-store.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import { type Credits, type CreditTotals, credits } from "../../../domain/credits/credits.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import type { LedgerCursor } from "../../../domain/credits/ledger-page.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { toStanding } from "../accounts/account-rows.js";
import { branded, integer, optional, text } from "../database/sql/columns.js";
import type { Database, Sql } from "../database/sql/database.js";
import { olderThan } from "../database/sql/statement.js";
import { toTask } from "../tasks/task-rows.js";
import { toLedgerEntry } from "./ledger-rows.js";
import { walkLedger } from "./walk-ledger.js";

/** Number of account ids that the audit reads with one statement. */
const PAGE_SIZE = 500;

/** The ledger in SQLite or PostgreSQL. */
export class SqlLedgerStore implements LedgerStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async balance(account: AccountId): Promise<Credits> {
    const [row] = await this.database.sql("select id, credits from account where id = ?", [account]);
    if (row === undefined) throw new Error(`there is no account ${account}`);
    return credits(integer(row, "credits"));
  }

  /**
   * Spent credits are computed: bought and adjusted credits that are neither left nor reserved. A refund returns to the
   * balance. The sum over years may exceed an integer of PostgreSQL. Active tasks are few.
   */
  async totals(account: AccountId): Promise<CreditTotals> {
    const [row] = await this.database.sql(
      `select id, credits, debt, cast(granted as double precision) as granted,
        (select cast(coalesce(sum(credits), 0) as integer) from task where account_id = ? and deleted_at is null
          and state in ('queued', 'submitting', 'submitted', 'generated')) as reserved
      from account where id = ?`,
      [account, account],
    );
    if (row === undefined) throw new Error(`there is no account ${account}`);
    const [remaining, reserved] = [integer(row, "credits"), integer(row, "reserved")];
    const spent = integer(row, "granted") - remaining - reserved;
    const debt = row.debt === 0 ? undefined : credits(integer(row, "debt"));
    return { remaining: credits(remaining), reserved: credits(reserved), spent: credits(Math.max(0, spent)), debt };
  }

  entries(account: AccountId): Promise<LedgerEntry[]> {
    return entriesOf(this.database, "account_id", account);
  }

  ofTask(task: TaskId): Promise<LedgerEntry[]> {
    return entriesOf(this.database, "task_id", task);
  }

  async list(account: AccountId, limit: number, before: LedgerCursor | undefined): Promise<LedgerLine[]> {
    const older = olderThan(before, "ledger_entry.id");
    // PostgreSQL's driver returns a bigint as text, SQLite's as a number.
    const rows = await this.database.sql(
      `select ledger_entry.*, cast(ledger_entry.id as text) as number, account.credits as balance, task.api_key_id
      from ledger_entry join account on account.id = ledger_entry.account_id
      left join task on task.id = ledger_entry.task_id
      where ledger_entry.account_id = ? ${older.text} order by ledger_entry.id desc limit ?`,
      [account, ...older.parameters, limit],
    );
    return rows.map((row) => ({
      cursor: Number(text(row, "number")) as LedgerCursor,
      entry: toLedgerEntry(row),
      balance: credits(integer(row, "balance")),
      apiKeyId: optional(row, "api_key_id", branded<ApiKeyId>),
    }));
  }

  walk(visit: (part: LedgerPart) => void): Promise<void> {
    return walkLedger(this.database, visit);
  }

  async *all(): AsyncIterable<AccountLedger> {
    const nextPage = "select id from account where id > ? order by id limit ?";
    for (let last = ""; ; ) {
      const page = await this.database.sql(nextPage, [last, PAGE_SIZE]);
      for (const row of page) {
        last = branded<AccountId>(row, "id");
        yield await this.database.snapshot((sql) => ledgerOf(sql, last as AccountId));
      }
      if (page.length < PAGE_SIZE) return;
    }
  }
}

async function ledgerOf(sql: Sql, id: AccountId): Promise<AccountLedger> {
  const [row] = await sql("select id, credits, debt, active_tasks from account where id = ?", [id]);
  if (row === undefined) throw new Error(`there is no account ${id}`);
  const entries = await sql("select * from ledger_entry where account_id = ? order by id", [id]);
  const tasks = await sql("select * from task where account_id = ?", [id]);
  return { standing: toStanding(id, row), entries: entries.map(toLedgerEntry), tasks: tasks.map(toTask) };
}

async function entriesOf(
  { sql }: Database,
  column: "account_id" | "task_id",
  id: AccountId | TaskId,
): Promise<LedgerEntry[]> {
  const rows = await sql(`select * from ledger_entry where ${column} = ? order by id`, [id]);
  return rows.map(toLedgerEntry);
}
