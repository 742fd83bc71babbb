import { setImmediate } from "node:timers/promises";
import type { Reporter } from "../../../application/ports/reporter.js";
import type { EventStore, StoredEvent, WatchedStreams } from "../../../application/ports/stores/webhook-stores.js";
import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { toKeyUse } from "../accounts/account-rows.js";
import { branded, integer, type Row } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";
import { isAmong, listOf } from "../database/sql/dialect-sql.js";
import { toTask } from "../tasks/task-rows.js";
import { UnreadableTasks } from "../tasks/unreadable-tasks.js";
import { toEvent } from "./event-rows.js";
import { referredRows } from "./webhook-rows.js";

/** Events in SQLite or PostgreSQL. */
export class SqlEventStore implements EventStore {
  private readonly database: Database;
  private readonly unreadable: UnreadableTasks;

  /** `reporter` receives the tasks whose rows this version cannot read. */
  constructor(database: Database, reporter: Pick<Reporter, "report"> = { report: () => {} }) {
    this.database = database;
    this.unreadable = new UnreadableTasks(reporter);
  }

  /** Reads on behind a page of which the tasks are deleted: no statement reads more rows than it returns. */
  async after(account: AccountId, after: number, limit: number, task?: TaskId): Promise<StoredEvent[]> {
    if (task !== undefined) return this.ofTask(account, task, after, limit);
    const found: StoredEvent[] = [];
    for (let last = after; ; ) {
      const rows = await this.database.sql(
        "select * from event where account_id = ? and number > ? order by number limit ?",
        [account, last, limit],
      );
      found.push(...(await this.shown(rows)));
      if (rows.length < limit || found.length >= limit) return found.slice(0, limit);
      last = integer(rows.at(-1) ?? {}, "number");
      await setImmediate(); // SQLite answers at once: others must have their turn between two pages
    }
  }

  async latest(accounts: readonly AccountId[]): Promise<ReadonlyMap<AccountId, number>> {
    return (await this.watch(accounts, [])).latest;
  }

  async watch(accounts: readonly AccountId[], keys: readonly ApiKeyId[]): Promise<WatchedStreams> {
    const { sql, dialect } = this.database;
    const rows = await sql(
      `select id, last_event, null as scopes, null as expires_at from account where ${isAmong("id", dialect)}
      union all
      select id, null, scopes, expires_at from api_key where ${isAmong("id", dialect)} and revoked_at is null
        and exists (select 1 from account where account.id = api_key.account_id and suspension_reason is null)`,
      [listOf(accounts, dialect), listOf(keys, dialect)],
    );
    const [ofAccounts, ofKeys] = [rows.filter(isOfAccount), rows.filter((row) => !isOfAccount(row))];
    return {
      latest: new Map(ofAccounts.map((row) => [branded<AccountId>(row, "id"), integer(row, "last_event")])),
      liveKeys: new Map(ofKeys.map((row) => [branded<ApiKeyId>(row, "id"), toKeyUse(row)])),
    };
  }

  /** A task has one event of each type. They are read by the task alone: the database might read all of the account. */
  private async ofTask(account: AccountId, task: TaskId, after: number, limit: number): Promise<StoredEvent[]> {
    const rows = await this.database.sql("select * from event where task_id = ?", [task]);
    const wanted = rows
      .filter((row) => row.account_id === account && integer(row, "number") > after)
      .sort((a, b) => integer(a, "number") - integer(b, "number"));
    return (await this.shown(wanted)).slice(0, limit);
  }

  /** The events with their tasks, without events of deleted and of unreadable tasks. */
  private async shown(rows: readonly Row[]): Promise<StoredEvent[]> {
    const taskRows = await referredRows(this.database, rows, "task_id", "select * from task");
    const notDeleted = taskRows.filter(({ deleted_at }) => deleted_at === null);
    const tasks = new Map(this.unreadable.separate(notDeleted, toTask).read.map((known) => [known.id, known]));
    return rows.flatMap((row): StoredEvent[] => {
      const event = toEvent(row);
      if (event.type === "credits.low") return [{ event, task: undefined }];
      const known = tasks.get(event.taskId);
      return known === undefined ? [] : [{ event, task: known }];
    });
  }
}

const isOfAccount = (row: Row): boolean => row.scopes === null;
