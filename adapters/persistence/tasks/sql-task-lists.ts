import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskId } from "../../../domain/ids.js";
import { isInGallery, type Task } from "../../../domain/tasks/task.js";
import { FAILED_IMAGE, IN_GALLERY } from "../database/schema/indexed-conditions.js";
import type { Row } from "../database/sql/database.js";
import { newerThan, olderThan, type Statement } from "../database/sql/statement.js";
import { found } from "./search-rows.js";
import type { SqlTaskContext } from "./sql-task-context.js";
import { allWith, rangesOf, type Source, type TaskRange } from "./task-filters.js";
import { toTask } from "./task-rows.js";
import { NEXT_PAGE_SIZE } from "./unreadable-tasks.js";

/** Lists of tasks in SQLite or PostgreSQL. */
export function sqlTaskLists(context: SqlTaskContext): TaskLists {
  const { database } = context;
  return {
    list: async (owner, limit, beyond, { filter = {}, first = "newest" } = {}) =>
      inRanges(context, await rangesOf(database, owner, filter), { first, limit, beyond }),
    listPublic: async (limit, beyond, first = "newest") =>
      (await inRanges(context, [allWith(IN_GALLERY)], { first, limit, beyond })).filter(isInGallery),
    searchPublic: async (words, limit, beyond, first = "newest") => {
      let page: Task[] = [];
      for (const range of found(words, database.dialect, first, beyond)) {
        page = await inRanges(context, [range], { first, limit, beyond });
        if (page.length === limit) break;
      }
      return page.filter(isInGallery);
    },
    listFailedImages: async (limit, beyond) => {
      const tasks = await inRanges(context, [allWith(FAILED_IMAGE)], { first: "newest", limit, beyond });
      return tasks.filter((task) => task.state === "succeeded");
    },
  };
}

/** The part of a list that is read: it begins at one of its ends, or beyond a task. */
type Part = { readonly first: "newest" | "oldest"; readonly limit: number; readonly beyond: TaskId | undefined };

/** Reads the next rows of a list. */
type ReadPage = (first: Part["first"], beyond: string | undefined, size: number) => Promise<readonly Row[]>;

/** Reads on until it has `limit` tasks or there are no more: a shorter answer would look like the last page. */
async function inOrder(
  { unreadable }: SqlTaskContext,
  readPage: ReadPage,
  { first, limit, beyond }: Part,
): Promise<Task[]> {
  const tasks: Task[] = [];
  for (let last: string | undefined = beyond, size = limit; ; size = NEXT_PAGE_SIZE) {
    const rows = await readPage(first, last, size);
    tasks.push(...unreadable.separate(rows, toTask).read);
    if (rows.length < size || tasks.length >= limit) return tasks.slice(0, limit);
    last = String(rows.at(-1)?.id);
  }
}

const inRanges = (context: SqlTaskContext, ranges: readonly TaskRange[], part: Part): Promise<Task[]> =>
  inOrder(
    context,
    (first, beyond, size) => {
      const { text: statement, parameters } = pageOf(ranges, first, beyond, size);
      return context.database.sql(statement, parameters);
    },
    part,
  );

/** Selects the first rows of all ranges together. Of several, each is read only as far as the page could reach. */
function pageOf(ranges: readonly TaskRange[], first: "newest" | "oldest", beyond: unknown, size: number): Statement {
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
}

/** The order of a list, and the condition for the tasks after `last`. */
function inDirection(first: "newest" | "oldest", last: unknown, { id, beyond }: Source) {
  const direction = first === "newest" ? "desc" : "asc";
  if (beyond !== undefined && last !== undefined) return { rest: beyond(first, last), direction };
  return { rest: (first === "newest" ? olderThan : newerThan)(last, id), direction };
}
