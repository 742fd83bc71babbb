import { indexedWords } from "../../../domain/tasks/prompt-search.js";
import { IN_GALLERY } from "../database/schema/indexed-conditions.js";
import { integer, optional, type Row, text } from "../database/sql/columns.js";
import type { Dialect, Sql } from "../database/sql/database.js";
import { isAmong, listOf } from "../database/sql/dialect-sql.js";
import { newerThan, olderThan } from "../database/sql/statement.js";
import type { Source, TaskRange } from "./task-filters.js";

/*
 * The index of searches. `task_search` has one row for each panorama in the gallery. On PostgreSQL it has the words,
 * with a GIN index. On SQLite `task_words` has them, a full-text table that lists its rows by number. The numbers are
 * in the order of the ids, with gaps, so that a search reads only the page that it shows.
 */

/** True for a task that must be added to the search index or removed from it. */
export const IS_OUT_OF_SEARCH = `in_search <> (${IN_GALLERY})`;

/**
 * Between the numbers of two neighbours at first. 2 to the power of 29 panoramas have numbers that are exact in
 * JavaScript.
 */
const GAP = 2 ** 24;

/** Adds tasks to the index or removes them, where index and gallery differ. Their rows must be locked. */
export async function updateSearch(sql: Sql, dialect: Dialect, ids: readonly unknown[]): Promise<void> {
  const rows = await sql(
    `select id, prompt, in_search from task where ${isAmong("id", dialect)} and ${IS_OUT_OF_SEARCH}`,
    [listOf(ids, dialect)],
  );
  const left = rows.filter(({ in_search }) => in_search).map(({ id }) => id);
  await remove(sql, dialect, left);
  for (const row of rows) if (!row.in_search) await enter(sql, dialect, row);
}

/**
 * Where to read a page of the gallery's panoramas that the words find: from the first of these that fills it, else from
 * the last one, which has all of them.
 */
export const found = (
  words: readonly string[],
  dialect: Dialect,
  first: "newest" | "oldest",
  beyond: unknown,
): readonly [TaskRange, ...TaskRange[]] =>
  dialect === "postgresql"
    ? [amongNext(words, first, beyond), amongAll(words, first)]
    : [{ from: BY_NUMBER, conditions: IN_GALLERY, parameters: [words.map((word) => `"${word}" *`).join(" ")] }];

/*
 * On PostgreSQL, the subqueries decide how it searches (`offset 0` and `limit` keep the planner from joining them). The
 * planner itself would walk through the whole gallery for a word that nobody has used: the plan of a prepared statement
 * is the same for all words.
 */

/** Panoramas that are looked at one by one. They fill a page if a tenth of all panoramas have the words. */
const LOOKED_AT = 250;

function amongNext(words: readonly string[], first: "newest" | "oldest", beyond: unknown): TaskRange {
  const { text: rest, parameters } = (first === "newest" ? olderThan : newerThan)(beyond, "task_id");
  return {
    from: {
      tables: `(select task_id, words from task_search where true ${rest}
          order by task_id ${first === "newest" ? "desc" : "asc"} limit ${LOOKED_AT}) as next
        join task on task.id = next.task_id`,
      id: "next.task_id",
    },
    conditions: `next.words @@ cast(? as tsquery) and ${IN_GALLERY}`,
    parameters: [...parameters, asQuery(words)],
  };
}

/**
 * All panoramas that the words find. The index is asked for the longest word only, which nearly always has the shortest
 * list: it would read the list of each other word, too. A thousand panoramas on the list cost about a millisecond; it
 * is long only if many panoramas have the word, but hardly any of those just looked at has all words.
 */
function amongAll(words: readonly string[], first: "newest" | "oldest"): TaskRange {
  const [longest = "", ...others] = words.toSorted((one, other) => other.length - one.length);
  return {
    from: {
      tables: `(select task_id from (select task_id, words from task_search where words @@ cast(? as tsquery) offset 0) as listed
          ${others.length === 0 ? "" : "where words @@ cast(? as tsquery)"}
          order by task_id ${first === "newest" ? "desc" : "asc"} offset 0) as listed
        cross join lateral (select * from task where id = listed.task_id offset 0) as task`,
      id: "listed.task_id",
    },
    conditions: IN_GALLERY,
    parameters: [asQuery([longest]), ...(others.length === 0 ? [] : [asQuery(others)])],
  };
}

const asQuery = (words: readonly string[]): string => words.map((word) => `'${word}':*`).join(" & ");

/** On SQLite. `cross join` keeps this order: any other one reads the whole gallery. */
const BY_NUMBER: Source = {
  tables: `task_words(?) cross join task_search on task_search.number = task_words.rowid
    cross join task on task.id = task_search.task_id`,
  id: "task_words.rowid",
  // The number of the task, or of where it would be.
  beyond: (first, id) => ({
    text:
      first === "newest"
        ? `and task_words.rowid < coalesce((select number from task_search where task_id = ?),
          (select number + 1 from task_search where task_id < ? order by task_id desc limit 1))`
        : `and task_words.rowid > coalesce((select number from task_search where task_id = ?),
          (select number - 1 from task_search where task_id > ? order by task_id limit 1))`,
    parameters: [id, id],
  }),
};

async function enter(sql: Sql, dialect: Dialect, row: Row): Promise<void> {
  const id = text(row, "id");
  const words = indexedWords(optional(row, "prompt", text) ?? "");
  if (dialect === "postgresql") {
    await sql("insert into task_search (task_id, words) values (?, array_to_tsvector(cast(? as text[])))", [id, words]);
  } else {
    const number = await numberFor(sql, id);
    await sql("insert into task_search (number, task_id) values (?, ?)", [number, id]);
    await sql("insert into task_words (rowid, words) values (?, ?)", [number, words.join(" ")]);
  }
  await sql("update task set in_search = true where id = ?", [id]);
}

async function remove(sql: Sql, dialect: Dialect, ids: readonly unknown[]): Promise<void> {
  if (ids.length === 0) return;
  const [these, list] = [isAmong("task_id", dialect), [listOf(ids, dialect)]];
  if (dialect === "sqlite") {
    await sql(`delete from task_words where rowid in (select number from task_search where ${these})`, list);
  }
  await sql(`delete from task_search where ${these}`, list);
  await sql(`update task set in_search = false where ${isAmong("id", dialect)}`, list);
}

/**
 * A number between those of the neighbours. If it is used, because there are no more between them, the next free one:
 * then the order is not exact there. That takes 24 panoramas that are published each between the last one and the same
 * neighbour.
 */
async function numberFor(sql: Sql, id: string): Promise<number> {
  const [neighbours = {}] = await sql(
    `select (select number from task_search where task_id < ? order by task_id desc limit 1) as below,
    (select number from task_search where task_id > ? order by task_id limit 1) as above`,
    [id, id],
  );
  const wanted = between(optional(neighbours, "below", integer), optional(neighbours, "above", integer));
  if ((await sql("select 1 from task_search where number = ?", [wanted])).length === 0) return wanted;
  const [free = {}] = await sql(
    `select min(number) + 1 as number from task_search as one where number >= ?
    and not exists (select 1 from task_search as other where other.number = one.number + 1)`,
    [wanted],
  );
  return integer(free, "number");
}

function between(below: number | undefined, above: number | undefined): number {
  if (below === undefined) return (above ?? GAP) - GAP;
  return above === undefined ? below + GAP : Math.floor((below + above) / 2);
}
