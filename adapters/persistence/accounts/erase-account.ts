import type { Email } from "../../../domain/accounts/account.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { shortTurn } from "../../system/short-turn.js";
import { branded, integer } from "../database/sql/columns.js";
import { type Database, inTransaction, type Sql } from "../database/sql/database.js";
import { isAmong, listOf } from "../database/sql/dialect-sql.js";
import { DUE_WHEN_DELETED } from "../tasks/due-when-deleted.js";
import { deletePairs } from "../tasks/erase-task-texts.js";
import { updateSearch } from "../tasks/search-rows.js";
import { lockAccount } from "./lock-account.js";

/** A page at a time: an account may have more tasks than one statement may change. */
export function eraseTasks(
  database: Database,
  account: AccountId,
  after: TaskId | undefined,
  limit: number,
  now: Date,
): Promise<TaskId | undefined> {
  const { dialect } = database;
  return inTransaction(database, async (sql) => {
    await lockAccount(sql, account);
    const page = await sql(
      "select id, account_id, metadata from task where account_id = ? and id > ? order by id limit ?",
      [account, after ?? "", limit],
    );
    if (page.length === 0) return undefined;
    const pageIds = page.map(({ id }) => id);
    const ids = listOf(pageIds, dialect);
    await sql(
      `update task set deleted_at = ?, deleted_by = 'operator', ${DUE_WHEN_DELETED}
      where account_id = ? and ${isAmong("id", dialect)} and deleted_at is null`,
      [now, now, account, ids],
    );
    await sql(
      `update task set prompt = null, image_urls = '[]', metadata = null, seed = null, webhook_url = null,
      visibility = 'private', api_key_id = null, traceparent = null, failure_detail = null, texts_erased_at = ? where ${isAmong("id", dialect)}`,
      [now, ids],
    );
    await updateSearch(sql, dialect, pageIds);
    for (const row of page) await deletePairs(sql, dialect, row);
    // Long ago: the images expire now.
    await sql(
      `insert into reference_upload (account_id, name, uploaded_at)
      select distinct cast(? as text), name, cast(? as timestamptz) from task_reference
      where ${isAmong("task_id", dialect)} on conflict (account_id, name) do nothing`,
      [account, new Date(0), ids],
    );
    await sql(`delete from task_reference where ${isAmong("task_id", dialect)}`, [ids]);
    return branded<TaskId>(page.at(-1) ?? {}, "id");
  });
}

/** The oldest `limit` events of an account, with their deliveries. The last page takes its endpoints and lanes, too. */
export function eraseEvents(database: Database, account: AccountId, limit: number): Promise<boolean> {
  return inTransaction(database, async (sql) => {
    await lockAccount(sql, account);
    const nextPage = "select number from event where account_id = ? order by number limit 1 offset ?";
    const [last] = await sql(nextPage, [account, limit - 1]);
    const [condition, parameters] = last === undefined ? ["", []] : ["and number <= ?", [last.number]];
    for (const table of ["webhook_delivery", "event"]) {
      await sql(`delete from ${table} where account_id = ? ${condition}`, [account, ...parameters]);
    }
    if (last !== undefined) return true;
    await eraseLanes(sql, account);
    await sql("delete from webhook_endpoint where account_id = ?", [account]);
    await sql("update reference_upload set uploaded_at = ? where account_id = ?", [new Date(0), account]);
    return false;
  });
}

/** The lanes that are named by the account's endpoints, or by its id and an origin (event-rows.ts). */
async function eraseLanes(sql: Sql, account: AccountId): Promise<void> {
  const own = `${account} `;
  await sql(
    `delete from webhook_receiver where name in (select id from webhook_endpoint where account_id = ?)
    or substr(name, 1, cast(? as integer)) = ?`,
    [account, own.length, own],
  );
}

/** Rows of the log of operators that one statement reads, or changes. */
const LOG_PAGE = 1000;

/**
 * Replaces an address in the log of operators a page at a time. Returns the id after which the transaction that closes
 * looks again: at less than two pages, because a row may be committed after those with a higher id.
 */
export async function eraseEmailInPages({ sql }: Database, email: Email, instead: Email): Promise<number> {
  for (let after = 0, again = 0; ; await shortTurn()) {
    const [page = {}] = await sql(
      `select max(id) as last, cast(count(*) as integer) as actions,
      cast(sum(case when arguments <> replace(arguments, ?, ?) then 1 else 0 end) as integer) as found
      from (select id, arguments from operator_action where id > ? order by id limit ?) as page`,
      [JSON.stringify(email), JSON.stringify(instead), after, LOG_PAGE],
    );
    if (integer(page, "actions") < LOG_PAGE) return again;
    const last = Number(page.last);
    if (integer(page, "found") > 0) await eraseEmail(sql, email, instead, { after, last });
    [again, after] = [after, last];
  }
}

/** Replaces an address in a part of the log of operators. */
export async function eraseEmail(
  sql: Sql,
  email: Email,
  instead: Email,
  { after, last = Number.MAX_SAFE_INTEGER }: { readonly after: number; readonly last?: number },
): Promise<void> {
  const [from, to] = [JSON.stringify(email), JSON.stringify(instead)];
  await sql(
    `update operator_action set arguments = replace(arguments, ?, ?)
    where id > ? and id <= ? and arguments <> replace(arguments, ?, ?)`,
    [from, to, after, last, from, to],
  );
}
