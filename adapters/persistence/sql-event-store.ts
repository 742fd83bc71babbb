import type { EventStore, StoredEvent } from "../../application/ports/event-store.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type { AccountId } from "../../domain/account.js";
import type { TaskId } from "../../domain/task-id.js";
import { branded, integer } from "./columns.js";
import type { Database } from "./database.js";
import { isAmong, listOf } from "./dialect-sql.js";
import { toEvent } from "./event-rows.js";
import { toTask } from "./task-rows.js";
import { UnreadableTasks } from "./unreadable-tasks.js";

/** Events in SQLite or PostgreSQL. */
export class SqlEventStore implements EventStore {
  private readonly database: Database;
  private readonly unreadable: UnreadableTasks;

  /** `reporter` receives the tasks whose rows this version cannot read. */
  constructor(database: Database, reporter: Pick<Reporter, "report"> = { report: () => {} }) {
    this.database = database;
    this.unreadable = new UnreadableTasks(reporter);
  }

  async after(account: AccountId, after: number, limit: number, task?: TaskId): Promise<StoredEvent[]> {
    const { sql, dialect } = this.database;
    const ofTask = task === undefined ? "" : "and task_id = ?";
    const rows = await sql(
      `select * from event where account_id = ? and number > ? ${ofTask}
      and (task_id is null or exists (select 1 from task where task.id = event.task_id and hidden_at is null))
      order by number limit ?`,
      [account, after, ...(task === undefined ? [] : [task]), limit],
    );
    const ids = rows.flatMap(({ task_id }) => (task_id === null ? [] : [task_id]));
    const taskRows =
      ids.length === 0 ? [] : await sql(`select * from task where ${isAmong("id", dialect)}`, [listOf(ids, dialect)]);
    const tasks = new Map(this.unreadable.separate(taskRows, toTask).read.map((known) => [known.id, known]));
    return rows.flatMap((row): StoredEvent[] => {
      const event = toEvent(row);
      if (event.type === "credits.low") return [{ event, task: undefined }];
      const known = tasks.get(event.taskId);
      return known === undefined ? [] : [{ event, task: known }];
    });
  }

  async latest(accounts: readonly AccountId[]): Promise<Map<AccountId, number>> {
    const { sql, dialect } = this.database;
    const rows = await sql(`select id, last_event from account where ${isAmong("id", dialect)}`, [
      listOf(accounts, dialect),
    ]);
    return new Map(rows.map((row) => [branded<AccountId>(row, "id"), integer(row, "last_event")]));
  }
}
