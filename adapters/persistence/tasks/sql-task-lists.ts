import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskId } from "../../../domain/ids.js";
import { isInGallery, type Task } from "../../../domain/tasks/task.js";
import { NEXT_PAGE_SIZE } from "../rows/unreadable-tasks.js";
import { FAILED_IMAGE, IN_GALLERY } from "../schema/indexed-conditions.js";
import { newerThan, olderThan, type Statement } from "../sql/statement.js";
import { found } from "./search-rows.js";
import type { SqlTaskContext } from "./sql-task-context.js";
import { rangesOf, type Source, TASKS, type TaskRange } from "./task-filters.js";
import { toTask } from "./task-rows.js";

/** Lists of tasks in SQLite or PostgreSQL. */
export const sqlTaskLists = (context: SqlTaskContext): TaskLists => {
  const { database } = context;
  return {
    list: async (owner, limit, beyond, { filter = {}, first = "newest" } = {}) =>
      inOrder(context, await rangesOf(database.sql, owner, filter), { first, limit, beyond }),
    listPublic: async (limit, beyond, first = "newest") =>
      (await inOrder(context, [GALLERY], { first, limit, beyond })).filter(isInGallery),
    searchPublic: async (words, limit, beyond, first = "newest") => {
      let page: Task[] = [];
      for (const range of found(words, database.dialect, first, beyond)) {
        page = await inOrder(context, [range], { first, limit, beyond });
        if (page.length === limit) break;
      }
      return page.filter(isInGallery);
    },
    listFailedImages: async (limit, beyond) => {
      const tasks = await inOrder(context, [FAILED_IMAGES], { first: "newest", limit, beyond });
      return tasks.filter((task) => task.state === "succeeded");
    },
  };
};

/** The part of a list that is read: it begins at one of its ends, or beyond a task. */
type Part = { readonly first: "newest" | "oldest"; readonly limit: number; readonly beyond: TaskId | undefined };

/** Reads on until it has `limit` tasks or there are no more: a shorter answer would look like the last page. */
const inOrder = async (
  { database, unreadable }: SqlTaskContext,
  ranges: readonly TaskRange[],
  { first, limit, beyond }: Part,
): Promise<Task[]> => {
  const tasks: Task[] = [];
  for (let last: unknown = beyond, size = limit; ; size = NEXT_PAGE_SIZE) {
    const { text: statement, parameters } = pageOf(ranges, first, last, size);
    const rows = await database.sql(statement, parameters);
    tasks.push(...unreadable.separate(rows, toTask).read);
    if (rows.length < size || tasks.length >= limit) return tasks.slice(0, limit);
    last = rows.at(-1)?.id;
  }
};

const GALLERY: TaskRange = { from: TASKS, conditions: IN_GALLERY, parameters: [] };
const FAILED_IMAGES: TaskRange = { from: TASKS, conditions: FAILED_IMAGE, parameters: [] };

/** Selects the first rows of all ranges together. Of several, each is read only as far as the page could reach. */
const pageOf = (ranges: readonly TaskRange[], first: "newest" | "oldest", beyond: unknown, size: number): Statement => {
  const parts = ranges.map(({ from, conditions, parameters }) => {
    const { rest, direction } = inDirection(first, beyond, from);
    return {
      text: `from ${from.tables} where ${conditions} ${rest.text} order by ${from.id} ${direction} limit ?`,
      parameters: [...parameters, ...rest.parameters, size],
    };
  });
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return { ...only, text: `select task.* ${only.text}` };
  const ids = parts.map(({ text: part }, index) => `select id from (select task.id ${part}) as range_${index}`);
  return {
    // `cross join`: SQLite reads the ids first, and then their rows.
    text: `select task.* from (${ids.join(" union all ")}) as page cross join task where task.id = page.id
      order by page.id ${first === "newest" ? "desc" : "asc"} limit ?`,
    parameters: [...parts.flatMap(({ parameters }) => parameters), size],
  };
};

/** What orders a list, and narrows it to what comes after the task `last`. */
const inDirection = (first: "newest" | "oldest", last: unknown, { id, beyond }: Source) => {
  const direction = first === "newest" ? "desc" : "asc";
  if (beyond !== undefined && last !== undefined) return { rest: beyond(first, last), direction };
  return { rest: (first === "newest" ? olderThan : newerThan)(last, id), direction };
};
