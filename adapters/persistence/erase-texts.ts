import { ok } from "neverthrow";
import { NO_METADATA } from "../../domain/metadata.js";
import { pairs, type Row, text } from "./columns.js";
import type { Database, Sql } from "./database.js";
import { isAmong, isIn, listOf, skipLocked } from "./dialect-sql.js";
import type { Dialect } from "./migration-steps.js";
import { writeInOneRoundTrip } from "./write-in-one-round-trip.js";

/** A task that has no picture, because it failed or was deleted, and still has its texts. The index has this exact text. */
export const HAS_TEXTS_TO_ERASE = "(state = 'failed' or hidden_at is not null) and texts_erased_at is null";

/** When such a task failed or, later, was deleted. */
export const ENDED_WITHOUT_PICTURE_AT = "coalesce(hidden_at, failed_at)";

/** `TaskStore.eraseTexts`. Nearly always there is nothing to do, so it reads first: a read waits for no lock. */
export const eraseTexts = async (database: Database, before: Date, limit: number, now: Date): Promise<number> => {
  const { dialect } = database;
  const oldest = `select id from task where ${HAS_TEXTS_TO_ERASE} and ${ENDED_WITHOUT_PICTURE_AT} < ?
    order by ${ENDED_WITHOUT_PICTURE_AT} limit ?`;
  if ((await database.sql(oldest, [before, 1])).length === 0) return 0;
  const erased = await database.transaction<number, never>(async (sql) => {
    const rows = await sql(
      `update task set texts_erased_at = ? where ${isIn("id", `${oldest} ${skipLocked(dialect)}`, dialect)}
      returning id, account_id, metadata, hidden_at`,
      [now, before, limit],
    );
    const ids = (some: readonly Row[]) => some.map(({ id }) => id);
    for (const row of rows) await deletePairs(sql, dialect, row);
    await sql(
      `update task set prompt = null, image_urls = '[]', metadata = null
      where ${isAmong("id", dialect)}`,
      [listOf(ids(rows), dialect)],
    );
    const deleted = rows.filter(({ hidden_at }) => hidden_at !== null);
    await deleteReadEvents(sql, dialect, ids(deleted));
    return ok(rows.length);
  });
  return erased._unsafeUnwrap();
};

/** Deletes the pairs of a task by their whole key, because they have no index by task. The row has its metadata. */
export const deletePairs = async (sql: Sql, dialect: Dialect, row: Row): Promise<void> => {
  const all = Object.entries(pairs(row, "metadata", NO_METADATA));
  if (all.length === 0) return;
  const statement = "delete from task_metadata where account_id = ? and key = ? and value = ? and task_id = ?";
  const [account, task] = [text(row, "account_id"), text(row, "id")];
  await writeInOneRoundTrip(
    sql,
    dialect,
    all.map(([key, value]) => ({ text: statement, parameters: [account, key, value, task] })),
  );
};

/** Deletes the events of tasks, with their deliveries, unless one of these is pending. */
export const deleteReadEvents = async (sql: Sql, dialect: Dialect, tasks: readonly unknown[]): Promise<void> => {
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
};
