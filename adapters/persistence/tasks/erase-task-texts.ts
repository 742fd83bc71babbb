import { NO_METADATA } from "../../../domain/tasks/metadata.js";
import { ENDED_WITHOUT_PICTURE_AT, HAS_TEXTS_TO_ERASE } from "../database/schema/indexed-conditions.js";
import { pairs, type Row, text } from "../database/sql/columns.js";
import { type Database, type Dialect, inTransaction, type Sql } from "../database/sql/database.js";
import { isAmong, isIn, listOf, skipLocked } from "../database/sql/dialect-sql.js";
import { writeInOneRoundTrip } from "../database/sql/write-in-one-round-trip.js";

/** `TaskWork.eraseTexts`. Nearly always there is nothing to do, so it reads first: a read waits for no lock. */
export async function eraseTaskTexts(database: Database, before: Date, limit: number, now: Date): Promise<number> {
  const { dialect } = database;
  const oldest = `select id from task where ${HAS_TEXTS_TO_ERASE} and ${ENDED_WITHOUT_PICTURE_AT} < ?
    order by ${ENDED_WITHOUT_PICTURE_AT} limit ?`;
  if ((await database.sql(oldest, [before, 1])).length === 0) return 0;
  return inTransaction(database, async (sql) => {
    const rows = await sql(
      `update task set texts_erased_at = ? where ${isIn("id", `${oldest} ${skipLocked(dialect)}`, dialect)}
      returning id, account_id, metadata, deleted_at`,
      [now, before, limit],
    );
    const ids = (some: readonly Row[]) => some.map(({ id }) => id);
    for (const row of rows) await deletePairs(sql, dialect, row);
    await sql(
      `update task set prompt = null, image_urls = '[]', metadata = null
      where ${isAmong("id", dialect)}`,
      [listOf(ids(rows), dialect)],
    );
    const deleted = rows.filter(({ deleted_at }) => deleted_at !== null);
    await deleteReadEvents(sql, dialect, ids(deleted));
    await eraseWebhookUrls(sql, dialect, ids(deleted));
    return rows.length;
  });
}

/**
 * Erases the `webhook_url` of tasks that are deleted or have failed, if they have no event that could be sent there.
 */
export async function eraseWebhookUrls(sql: Sql, dialect: Dialect, tasks: readonly unknown[]): Promise<void> {
  await sql(
    `update task set webhook_url = null where ${isAmong("id", dialect)} and webhook_url is not null
    and (state = 'failed' or deleted_at is not null) and not exists (select 1 from event where event.task_id = task.id)`,
    [listOf(tasks, dialect)],
  );
}

/** Deletes the pairs of a task by their whole key, because they have no index by task. The row has its metadata. */
export async function deletePairs(sql: Sql, dialect: Dialect, row: Row): Promise<void> {
  const all = Object.entries(pairs(row, "metadata", NO_METADATA));
  if (all.length === 0) return;
  const statement = "delete from task_metadata where account_id = ? and key = ? and value = ? and task_id = ?";
  const [account, task] = [text(row, "account_id"), text(row, "id")];
  await writeInOneRoundTrip(
    sql,
    dialect,
    all.map(([key, value]) => ({ text: statement, parameters: [account, key, value, task] })),
  );
}

/** Deletes the events of tasks, with their deliveries, unless one of these is pending. */
export async function deleteReadEvents(sql: Sql, dialect: Dialect, tasks: readonly unknown[]): Promise<void> {
  if (tasks.length === 0) return;
  const events = await sql(
    `select account_id, number from event where ${isAmong("task_id", dialect)} and not exists (
      select 1 from webhook_delivery where webhook_delivery.account_id = event.account_id
        and webhook_delivery.number = event.number and webhook_delivery.due_at is not null
    )`,
    [listOf(tasks, dialect)],
  );
  for (const { account_id, number } of events) {
    await writeInOneRoundTrip(
      sql,
      dialect,
      ["webhook_delivery", "event"].map((table) => ({
        text: `delete from ${table} where account_id = ? and number = ?`,
        parameters: [account_id, number],
      })),
    );
  }
}
