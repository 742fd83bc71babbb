import type { AccountId } from "../../../domain/ids.js";
import type { Task } from "../../../domain/tasks/task.js";
import type { TaskFilter } from "../../../domain/tasks/task-filter.js";
import type { Visibility } from "../../../domain/tasks/visibility.js";
import type { Database } from "../database/sql/database.js";
import type { Statement } from "../database/sql/statement.js";

/**
 * Where a list of tasks reads, and the column with the ids by which it is ordered. If that has no ids, `beyond` narrows
 * the list to what comes after a task.
 */
export type Source = {
  readonly tables: string;
  readonly id: string;
  readonly beyond?: (first: "newest" | "oldest", id: unknown) => Statement;
};

const TASKS: Source = { tables: "task", id: "task.id" };

/** The range of one pair of metadata has the tasks in their order, so a page reads only as many of them as it needs. */
const BY_METADATA: Source = {
  tables: "task_metadata as pair join task on task.id = pair.task_id",
  id: "pair.task_id",
};

const STATES: Readonly<Record<NonNullable<TaskFilter["status"]>, readonly Task["state"][]>> = {
  processing: ["queued", "submitting", "submitted", "generated"],
  succeeded: ["succeeded"],
  failed: ["failed"],
};
const ALL_STATES = Object.values(STATES).flat();
const VISIBILITIES: readonly Visibility[] = ["private", "public"];

/** Rows in the order of their ids, of which a page reads only as many as it shows. */
export type TaskRange = { readonly from: Source; readonly conditions: string; readonly parameters: readonly unknown[] };

/**
 * The ranges of the tasks of an account that are not deleted and match the filter (domain/tasks/task-filter.ts). A
 * status and a visibility are ranges of one index, `task_filter_index`, so that a page reads no task that it does not
 * show, however rare they are. Only with metadata the other members are conditions.
 */
export async function rangesOf(
  database: Pick<Database, "sql" | "dialect">,
  owner: AccountId,
  filter: TaskFilter,
): Promise<readonly TaskRange[]> {
  const { status, visibility, metadata = {} } = filter;
  const created = await createdBetween(database, owner, filter);
  const shown = "task.account_id = ? and task.deleted_at is null";
  const [first, ...others] = Object.entries(metadata);
  if (first !== undefined) {
    // Not the account of the task, which is that of the pair: a plan could begin there, and read all of its tasks.
    const conditions = [
      "pair.account_id = ? and pair.key = ? and pair.value = ?",
      ...others.map(() => OTHER_PAIR),
      "task.deleted_at is null",
    ];
    const parameters = [owner, ...first, ...others.flatMap((pair) => [owner, ...pair])];
    if (status !== undefined)
      conditions.push(`task.state in (${STATES[status].map((state) => `'${state}'`).join(", ")})`);
    if (visibility !== undefined) conditions.push(`task.visibility = '${visibility}'`);
    return [rangeOf(BY_METADATA, conditions.join(" and "), parameters, created)];
  }
  if (status === undefined && visibility === undefined) return [rangeOf(TASKS, shown, [owner], created)];
  const states = status === undefined ? ALL_STATES : STATES[status];
  const visibilities = visibility === undefined ? VISIBILITIES : [visibility];
  return states.flatMap((state) =>
    visibilities.map((one) =>
      rangeOf(TASKS, `${shown} and task.state = '${state}' and task.visibility = '${one}'`, [owner], created),
    ),
  );
}

/** All tasks of a condition that has an index (indexed-conditions.ts). */
export const allWith = (conditions: string): TaskRange => ({ from: TASKS, conditions, parameters: [] });

const OTHER_PAIR = `exists (select 1 from task_metadata as other
  where other.account_id = ? and other.key = ? and other.value = ? and other.task_id = task.id)`;

const rangeOf = (from: Source, conditions: string, parameters: readonly unknown[], created: Created): TaskRange => ({
  from,
  conditions: `${conditions}${created.text(from.id)}`,
  parameters: [...parameters, ...created.parameters],
});

type Created = { readonly text: (id: string) => string; readonly parameters: readonly unknown[] };

/**
 * The times of creation as conditions, and as a range of ids: ids sort by creation time, but those of other instances,
 * and those from before a clock was set back, only about. A task at the edge of the range shows which id that is.
 */
const createdBetween = async (
  { sql, dialect }: Pick<Database, "sql" | "dialect">,
  owner: AccountId,
  { createdAfter, createdBefore }: TaskFilter,
): Promise<Created> => {
  const edge = async (at: Date | undefined, tolerance: number, comparison: string, direction: string) => {
    if (at === undefined) return undefined;
    const [row] = await sql(
      `select id from task where account_id = ? and reserved_at ${comparison} ? order by reserved_at ${direction} limit 1`,
      [owner, new Date(at.getTime() + tolerance)],
    );
    return row?.id;
  };
  const conditions: ((id: string) => string)[] = [];
  const parameters: unknown[] = [];
  const add = (condition: (id: string) => string, value: unknown) => {
    if (value === undefined) return;
    conditions.push(condition);
    parameters.push(value);
  };
  // With `+`, SQLite takes no index for this condition: it would sort all tasks of the time that it finds there.
  const reservedAt = dialect === "sqlite" ? "+task.reserved_at" : "task.reserved_at";
  add(() => `${reservedAt} > ?`, createdAfter);
  add((id) => `${id} > ?`, await edge(createdAfter, -ID_TOLERANCE_MILLISECONDS, "<", "desc"));
  add(() => `${reservedAt} < ?`, createdBefore);
  add((id) => `${id} < ?`, await edge(createdBefore, ID_TOLERANCE_MILLISECONDS, ">", "asc"));
  return { text: (id) => conditions.map((condition) => ` and ${condition(id)}`).join(""), parameters };
};

/** Two tasks whose times of creation differ by more have ids in this order. */
const ID_TOLERANCE_MILLISECONDS = 60 * 60 * 1000;
