import type { LedgerPart } from "../../../application/ports/stores/ledger-store.js";
import { type AuditedTask, auditedTask, type BoughtCredits } from "../../../domain/credits/ledger-audit.js";
import type { OrderId } from "../../../domain/credits/order.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { TASK_STATES } from "../../../domain/tasks/task.js";
import { toStanding } from "../accounts/account-rows.js";
import { amount, branded, oneOf, type Row } from "../database/sql/columns.js";
import type { Database, Sql } from "../database/sql/database.js";
import { isAmong, listOf } from "../database/sql/dialect-sql.js";
import { toLedgerEntry } from "./ledger-rows.js";

/** Accounts that share a snapshot: one for each account would take longer than the reading. */
const ACCOUNTS = 2_000;
/** Rows that are in memory at a time. */
const ROWS = 1_000;

type Visit = (part: LedgerPart) => void;
/** The accounts of a snapshot: nothing but them is between their ids. */
type Range = { readonly first: AccountId; readonly last: AccountId };

/** `LedgerStore.walk`. */
export async function walkLedger(database: Database, visit: Visit): Promise<void> {
  for (let after: AccountId | undefined = "" as AccountId; after !== undefined; ) {
    const last: AccountId = after;
    after = await database.snapshot((sql) => walkAccounts(sql, database.dialect, last, visit));
  }
}

/** Returns the last account, `undefined` at the end. */
async function walkAccounts(
  sql: Sql,
  dialect: Database["dialect"],
  after: AccountId,
  visit: Visit,
): Promise<AccountId | undefined> {
  const rows = await sql("select id, credits, debt, active_tasks from account where id > ? order by id limit ?", [
    after,
    ACCOUNTS,
  ]);
  const ids = rows.map((row) => branded<AccountId>(row, "id"));
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  for (const row of rows) {
    const accountId = branded<AccountId>(row, "id");
    for (const standing of readable([row], accountId, (row) => toStanding(accountId, row), visit))
      visit({ kind: "standing", accountId, standing });
  }
  await walkTasks(sql, dialect, { first, last }, visit);
  await walkOtherEntries(sql, { first, last }, visit);
  await walkOrders(sql, { first, last }, visit);
  for (const accountId of ids) visit({ kind: "end", accountId });
  return ids.length < ACCOUNTS ? undefined : last;
}

/** The tasks of the accounts, each with the entries of its account that name it. */
async function walkTasks(sql: Sql, dialect: Database["dialect"], range: Range, visit: Visit) {
  for await (const rows of pages(sql, "select id, account_id, state, credits from task where", range, "")) {
    const ids = rows.map(({ id }) => id);
    const entries = await sql(`select * from ledger_entry where ${isAmong("task_id", dialect)}`, [
      listOf(ids, dialect),
    ]);
    const entriesOf = byAccount(entries);
    for (const [accountId, tasksOfAccount] of byAccount(rows)) {
      visit({
        kind: "tasks",
        accountId,
        tasks: readable(tasksOfAccount, accountId, toAuditedTask, visit),
        entries: readable(entriesOf.get(accountId) ?? [], accountId, toLedgerEntry, visit),
      });
    }
  }
}

/** The entries that name no task, or none of their account. */
async function walkOtherEntries(sql: Sql, range: Range, visit: Visit) {
  const select = `select * from ledger_entry where (task_id is null or not exists (
      select 1 from task where task.id = ledger_entry.task_id and task.account_id = ledger_entry.account_id
    )) and`;
  for await (const rows of pages(sql, select, range, 0)) {
    for (const [accountId, entries] of byAccount(rows)) {
      visit({ kind: "entries", accountId, entries: readable(entries, accountId, toLedgerEntry, visit) });
    }
  }
}

async function walkOrders(sql: Sql, range: Range, visit: Visit) {
  const select = "select id, account_id, credits, taken_back from credit_order where paid_at is not null and";
  for await (const rows of pages(sql, select, range, "")) {
    for (const [accountId, orders] of byAccount(rows)) {
      visit({ kind: "orders", accountId, orders: readable(orders, accountId, toBoughtCredits, visit) });
    }
  }
}

/** The rows of the accounts, ordered by account and id. All ids are greater than `least`. */
async function* pages(sql: Sql, select: string, { first, last }: Range, least: unknown): AsyncGenerator<Row[]> {
  const statement = `${select} account_id <= ? and (account_id, id) > (?, ?) order by account_id, id limit ?`;
  for (let after: readonly unknown[] | undefined = [first, least]; after !== undefined; ) {
    const rows: Row[] = await sql(statement, [last, ...after, ROWS]);
    if (rows.length > 0) yield rows;
    const end = rows.at(-1);
    after = rows.length < ROWS || end === undefined ? undefined : [end.account_id, end.id];
  }
}

function byAccount(rows: readonly Row[]): Map<AccountId, Row[]> {
  const grouped = new Map<AccountId, Row[]>();
  for (const row of rows) {
    const accountId = row.account_id as AccountId;
    const others = grouped.get(accountId);
    if (others === undefined) grouped.set(accountId, [row]);
    else others.push(row);
  }
  return grouped;
}

/** The readable rows. Reports each of the others. */
const readable = <T>(rows: readonly Row[], accountId: AccountId, read: (row: Row) => T, visit: Visit): T[] =>
  rows.flatMap((row) => {
    try {
      return [read(row)];
    } catch (error) {
      visit({ kind: "unreadable", accountId, detail: error instanceof Error ? error.message : String(error) });
      return [];
    }
  });

const toBoughtCredits = (row: Row): BoughtCredits => ({
  id: branded<OrderId>(row, "id"),
  credits: amount(row, "credits"),
  takenBack: amount(row, "taken_back"),
});

const toAuditedTask = (row: Row): AuditedTask =>
  auditedTask(
    branded<TaskId>(row, "id"),
    branded<AccountId>(row, "account_id"),
    oneOf(row, "state", TASK_STATES),
    amount(row, "credits"),
  );
