import { type InferEntity, LockMode } from "@mikro-orm/core";
import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { Hiding } from "../../../domain/tasks/out-of-sight.js";
import { changeEntities, inUnitOfWork } from "../database/orm/entities.js";
import { TaskTable } from "../database/schema/schema.js";
import type { Database } from "../database/sql/database.js";
import { updateSearch } from "./search-rows.js";

/** `TaskAccess.hide`. */
export const hideTask = (
  database: Database,
  id: TaskId,
  hidden: Hiding | undefined,
  nextName?: () => ObjectName,
): Promise<Result<void, NotFound>> =>
  inUnitOfWork(database, async (manager, sql) => {
    const isHidden = hidden === undefined ? { hiddenAt: { $ne: null } } : {};
    const task = await manager.findOne(TaskTable, { id, deletedAt: null, ...isHidden }, LOCKED);
    if (task === null) return err(notFound(`There is no such panorama ${id}.`));
    if (hidden !== undefined) hideEntity(task, hidden, nextName);
    else {
      const shown = { visibility: task.chosenVisibility, chosenVisibility: null };
      Object.assign(task, { ...shown, hiddenAt: null, hiddenReason: null, hiddenBy: null });
    }
    await manager.flush();
    await updateSearch(sql, database.dialect, [id]);
    return ok(undefined);
  });

/** `TaskAccess.hideAll`. */
export const hideTasks = (
  database: Database,
  accountId: AccountId,
  hidden: Hiding,
  limit: number,
  nextName: () => ObjectName,
): Promise<number> =>
  changeEntities(database, async (manager, sql) => {
    const page = { ...LOCKED, orderBy: { id: "asc" }, limit } as const;
    const tasks = await manager.find(TaskTable, { accountId, visibility: "public", deletedAt: null }, page);
    for (const task of tasks) hideEntity(task, hidden, nextName);
    await manager.flush();
    const ids = tasks.map(({ id }) => id);
    await updateSearch(sql, database.dialect, ids);
    return ids.length;
  });

/** Not the texts of the task, which may be unreadable. */
const FIELDS = ["visibility", "chosenVisibility", "hiddenAt", "state", "storageStatus", "nextImageName"] as const;
const LOCKED = { fields: FIELDS, lockMode: LockMode.PESSIMISTIC_WRITE } as const;

type HideableTask = Pick<InferEntity<typeof TaskTable>, (typeof FIELDS)[number]>;

/** Hides a task. A private one stays private when it is shown again. A stored image gets a new name and is due. */
const hideEntity = (task: HideableTask, { at, reason, by }: Hiding, nextName?: () => ObjectName): void => {
  if (task.hiddenAt === null) task.chosenVisibility = task.visibility;
  Object.assign(task, { visibility: "private", hiddenAt: at, hiddenReason: reason, hiddenBy: by ?? null });
  const isKept = task.state === "succeeded" && ["saved", "saved-no-thumb"].includes(task.storageStatus ?? "");
  if (nextName === undefined || !isKept) return;
  Object.assign(task, { nextImageName: task.nextImageName ?? nextName(), dueAt: at });
};
