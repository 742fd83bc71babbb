import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { Hiding } from "../../../domain/tasks/out-of-sight.js";
import { branded } from "../database/sql/columns.js";
import { type Database, inTransaction } from "../database/sql/database.js";
import type { Statement } from "../database/sql/statement.js";
import { updateSearch } from "./search-rows.js";

/** `TaskAccess.hide`. */
export function hideTask(
  database: Database,
  id: TaskId,
  hidden: Hiding | undefined,
  nextName?: () => ObjectName,
): Promise<Result<void, NotFound>> {
  const { text, parameters } = hidden === undefined ? SHOW : hiding(hidden, nextName);
  const which = hidden === undefined ? "and hidden_at is not null" : "";
  return database.transaction(async (sql) => {
    const changed = await sql(`update task set ${text} where id = ? and deleted_at is null ${which} returning id`, [
      ...parameters,
      id,
    ]);
    if (changed.length === 0) return err(notFound(`There is no such panorama ${id}.`));
    await updateSearch(sql, database.dialect, [id]);
    return ok(undefined);
  });
}

/** `TaskAccess.hideAll`. */
export function hideTasks(
  database: Database,
  account: AccountId,
  hidden: Hiding,
  limit: number,
  nextName: () => ObjectName,
): Promise<number> {
  const { dialect } = database;
  return inTransaction(database, async (sql) => {
    const rows = await sql(
      `select id from task where account_id = ? and visibility = 'public' and deleted_at is null
      order by id limit ? ${dialect === "postgresql" ? "for update" : ""}`,
      [account, limit],
    );
    const ids = rows.map((row) => branded<TaskId>(row, "id"));
    for (const id of ids) {
      const { text, parameters } = hiding(hidden, nextName);
      await sql(`update task set ${text} where id = ?`, [...parameters, id]);
    }
    await updateSearch(sql, dialect, ids);
    return ids.length;
  });
}

const SHOW: Statement = {
  text: `visibility = chosen_visibility, chosen_visibility = null,
    hidden_at = null, hidden_reason = null, hidden_by = null`,
  parameters: [],
};

const HAS_IMAGE = "state = 'succeeded' and storage_status in ('saved', 'saved-no-thumb')";

/** Hides a task. A private one stays private when it is shown again. A stored image gets a new name and is due. */
function hiding({ at, reason, by }: Hiding, nextName?: () => ObjectName): Statement {
  const hidden = `chosen_visibility = case when hidden_at is null then visibility else chosen_visibility end,
    visibility = 'private', hidden_at = ?, hidden_reason = ?, hidden_by = ?`;
  const core = [at, reason, by ?? null];
  if (nextName === undefined) return { text: hidden, parameters: core };
  return {
    text: `${hidden},
      next_image_name = case when ${HAS_IMAGE} then coalesce(next_image_name, ?) else next_image_name end,
      due_at = case when ${HAS_IMAGE} then cast(? as timestamptz) else due_at end`,
    parameters: [...core, nextName(), at],
  };
}
