import { type Database, inTransaction } from "../database/sql/database.js";
import { skipLocked } from "../database/sql/dialect-sql.js";
import type { Statement } from "../database/sql/statement.js";
import { eraseWebhookUrls } from "../tasks/erase-task-texts.js";

export async function bringDeliveriesForward({ dialect, sql }: Database, latest: Date, dueAt: Date): Promise<void> {
  for (const [change, isLate, parameters] of [
    ["next_at = ?", "next_at > ?", [dueAt, latest]],
    ["leased_until = null", "leased_until > ?", [latest]],
  ] as const) {
    const late = await sql(`select name from webhook_receiver where ${isLate} limit 1`, [latest]);
    if (late.length > 0) await sql(`update webhook_receiver set ${change} where ${isLate}`, parameters);
  }
  const conditions: readonly Statement[] = [
    { text: "due_at > ?", parameters: [latest] },
    // Sent again during an attempt, and the clock was set back since that began.
    { text: "due_at <= ? and leased_until > ?", parameters: [dueAt, latest] },
  ];
  for (const { text: isLate, parameters } of conditions) {
    const late = `select id from webhook_delivery where ${isLate} and due_at is not null`;
    if ((await sql(`${late} limit 1`, parameters)).length === 0) continue;
    await sql(
      `update webhook_delivery set due_at = ?,
        leased_until = case when due_at = leased_until then cast(? as timestamptz) end where id in (${late} ${skipLocked(dialect)})`,
      [dueAt, dueAt, ...parameters], // an untouched lease ends now, and its late holder may still record its attempt
    );
  }
}

/** The oldest ones, with their deliveries and what only these have needed. */
export async function deleteEvents(database: Database, before: Date, limit: number): Promise<number> {
  const { sql, dialect } = database;
  const unused = await sql("select name from webhook_receiver where next_at < ? limit 1", [before]);
  if (unused.length > 0) await sql("delete from webhook_receiver where next_at < ?", [before]);
  const old = await sql("select task_id from event where at < ? order by at limit ?", [before, limit]);
  if (old.length === 0) return 0;
  const tasks = old.flatMap(({ task_id }) => (task_id === null ? [] : [task_id]));
  await inTransaction(database, async (sql) => {
    const oldest = "select account_id, number from event where at < ? order by at limit ?";
    await sql(`delete from webhook_delivery where (account_id, number) in (${oldest})`, [before, limit]);
    await sql(`delete from event where (account_id, number) in (${oldest})`, [before, limit]);
    await eraseWebhookUrls(sql, dialect, tasks);
    await sql(
      `delete from webhook_endpoint where off_reason = 'deleted' and off_at < ?
      and not exists (select 1 from webhook_delivery where endpoint_id = webhook_endpoint.id)`,
      [before],
    );
  });
  return old.length;
}
