import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { ImageAddress, IsHidden, TaskAccess } from "../../../application/ports/stores/tasks/task-access.js";
import type { StaleTask, TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { type ObjectName, panoramaOf } from "../../../domain/images/object-name.js";
import type { StoredImage } from "../../../domain/images/storage-status.js";
import type { DeletedBy } from "../../../domain/tasks/out-of-sight.js";
import type { Slug } from "../../../domain/tasks/slug.js";
import type { SubmittedTask, SubmittingTask, Task } from "../../../domain/tasks/task.js";
import type { Visibility } from "../../../domain/tasks/visibility.js";
import { HIDDEN } from "../database/schema/indexed-conditions.js";
import { branded, optional, text } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";
import { isAmong, listOf } from "../database/sql/dialect-sql.js";
import { writeInOneRoundTrip } from "../database/sql/write-in-one-round-trip.js";
import { releaseReferences } from "../references/reference-rows.js";
import { DUE_WHEN_DELETED } from "./due-when-deleted.js";
import { deletePairs, deleteReadEvents } from "./erase-task-texts.js";
import { hideTask, hideTasks } from "./hide-tasks.js";
import { IS_OUT_OF_SEARCH, updateSearch } from "./search-rows.js";
import type { SqlTaskContext } from "./sql-task-context.js";
import { writeMove } from "./task-moves.js";
import { openTaskRows } from "./task-opening.js";
import { toTask } from "./task-rows.js";

/** Tasks in SQLite or PostgreSQL. */
export function sqlTaskStore(context: SqlTaskContext): TaskStore & TaskAccess {
  const { database, writes, observer } = context;
  return {
    open: (opening) => openTaskRows(database, writes, opening, observer),
    move: (current, next, dueAt) => writeMove(context, { current, next, dueAt }),
    find: (id, owner) => find(database, id, owner),
    findBySlug: (slug) => findBySlug(database, slug),
    ended: (ids) => ended(database, ids),
    setVisibility: (id, owner, visibility) => setVisibility(database, id, owner, visibility),
    hide: (id, hidden, nextName) => hideTask(database, id, hidden, nextName),
    hideAll: (owner, hidden, limit, nextName) => hideTasks(database, owner, hidden, limit, nextName),
    findByImage: (name) => findByImage(database, name),
    isHiddenImage: (image) => isHiddenImage(database, image),
    recordCancelRequest: (task, now) => recordCancelRequest(database, task, now),
    delete: (id, owner, now, by) => deleteTask(database, { id, owner }, now, by),
    wantedImage: (id) => wantedImage(database, id),
    isDeleted: (id, owner) => isDeleted(database, id, owner),
  };
}

async function find(database: Database, id: TaskId, owner: AccountId): Promise<Task | undefined> {
  const [row] = await database.sql("select * from task where id = ? and account_id = ? and deleted_at is null", [
    id,
    owner,
  ]);
  return row && toTask(row);
}

async function findBySlug(database: Database, slug: Slug): Promise<Task | undefined> {
  const [row] = await database.sql("select * from task where slug = ? and deleted_at is null", [slug]);
  return row && toTask(row);
}

async function ended({ dialect, sql }: Database, ids: readonly TaskId[]): Promise<TaskId[]> {
  const rows = await sql(`select id from task where ${isAmong("id", dialect)} and state in ('succeeded', 'failed')`, [
    listOf(ids, dialect),
  ]);
  return rows.map((row) => branded<TaskId>(row, "id"));
}

async function setVisibility(
  database: Database,
  id: TaskId,
  owner: AccountId,
  visibility: Visibility,
): Promise<Result<void, NotFound | IsHidden>> {
  const { dialect } = database;
  return database.transaction(async (sql) => {
    // A task that its owner makes private while it is hidden stays private when it is shown again.
    const afterwards =
      visibility === "public"
        ? ""
        : ", chosen_visibility = case when hidden_at is null then chosen_visibility else 'private' end";
    const changed = await sql(
      `update task set visibility = case when hidden_at is null then ? else 'private' end${afterwards}
      where id = ? and account_id = ? and deleted_at is null
      returning id, hidden_reason, ${IS_OUT_OF_SEARCH} as is_out_of_search`,
      [visibility, id, owner],
    );
    if (changed.length === 0) return err(notFound(`There is no task ${id}.`));
    const reason = optional(changed[0] ?? {}, "hidden_reason", text);
    if (reason !== undefined && visibility === "public") return err({ kind: "hidden", reason });
    if (changed[0]?.is_out_of_search) await updateSearch(sql, dialect, [id]);
    return ok(undefined);
  });
}

async function findByImage(database: Database, name: ObjectName): Promise<Task | undefined> {
  const [row] = await database.sql("select * from task where image_name = ? and deleted_at is null", [name]);
  return row && toTask(row);
}

async function isHiddenImage(database: Database, image: ImageAddress): Promise<boolean> {
  const [column, value] =
    "name" in image ? ["image_name", panoramaOf(image.name)] : ["temporary_url", image.temporaryUrl];
  const rows = await database.sql(`select 1 from task where ${column} = ? and ${HIDDEN} limit 1`, [value]);
  return rows.length === 1;
}

const recordCancelRequest = async (
  database: Database,
  task: SubmittingTask | SubmittedTask,
  now: Date,
): Promise<Result<void, StaleTask>> => {
  const { id, state } = task;
  const refusedAt = task.cancelRequest?.refusedAt;
  const [sameRefusal, refusal] = refusedAt === undefined ? ["is null", []] : ["= ?", [refusedAt]];
  const [sameSubmission, submission] = "submissions" in task ? ["and submissions = ?", [task.submissions]] : ["", []];
  const rows = await database.sql(
    // The poll that follows is wanted even if a late holder of an ended lease writes after this.
    `update task set cancel_wanted_at = ?, cancel_refused_at = null,
    due_at = case when state = 'submitted' and (due_at > ? or due_at = leased_until)
      then cast(? as timestamptz) else due_at end,
    leased_until = case when state <> 'submitted' or leased_until > ? then leased_until end
    where id = ? and state = ? ${sameSubmission} and cancel_refused_at ${sameRefusal} and deleted_at is null
    returning id`,
    [now, now, now, now, id, state, ...submission, ...refusal],
  );
  return rows.length === 1 ? ok(undefined) : err({ kind: "stale_task", id });
};

type OwnTask = { readonly id: TaskId; readonly owner: AccountId };

async function deleteTask(
  database: Database,
  { id, owner }: OwnTask,
  now: Date,
  by: DeletedBy | undefined,
): Promise<Result<void, NotFound>> {
  return database.transaction(async (sql) => {
    const deleted = await sql(
      `update task set deleted_at = ?, deleted_by = ?, ${DUE_WHEN_DELETED}
      where id = ? and account_id = ? and deleted_at is null returning id, account_id, metadata, in_search`,
      [now, by ?? null, now, id, owner],
    );
    const [row] = deleted;
    if (row === undefined) return err(notFound(`There is no task ${id}.`));
    const { dialect } = database;
    if (row.in_search) await updateSearch(sql, dialect, [id]);
    // Long ago: its images expire now, unless they were uploaded again.
    await writeInOneRoundTrip(sql, dialect, releaseReferences({ id, accountId: owner }, new Date(0)));
    // Nobody finds it by its metadata or reads its events any more: others would have to skip them.
    await deletePairs(sql, dialect, row);
    await deleteReadEvents(sql, dialect, [id]);
    return ok(undefined);
  });
}

async function wantedImage({ sql }: Database, id: TaskId): Promise<StoredImage | undefined> {
  const [row] = await sql(
    "select * from task where id = ? and state = 'succeeded' and storage_status <> 'expired' and deleted_at is null",
    [id],
  );
  const task = row && toTask(row);
  return task?.state === "succeeded" ? task.image : undefined;
}

const isDeleted = async (database: Database, id: TaskId, owner: AccountId): Promise<boolean> =>
  (await database.sql("select 1 from task where id = ? and account_id = ? and deleted_at is not null", [id, owner]))
    .length === 1;
