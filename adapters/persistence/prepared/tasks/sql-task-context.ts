import type { Clock } from "../../../../application/ports/clock.js";
import type { Reporter } from "../../../../application/ports/reporter.js";
import { SystemClock } from "../../../system/system-clock.js";
import { UnreadableTasks } from "../../rows/unreadable-tasks.js";
import type { Database } from "../../sql/database.js";
import { AccountTurns } from "../account-turns.js";
import type { TaskObserver } from "./task-observer.js";

/** What the ports of tasks on one database share. */
export type SqlTaskContext = {
  readonly database: Database;
  readonly turns: AccountTurns;
  readonly unreadable: UnreadableTasks;
  readonly observer: TaskObserver | undefined;
  readonly clock: Pick<Clock, "now">;
};

/** What `sqlTasks` can be given. */
export type SqlTaskOptions = {
  /** Receives the tasks whose rows this version cannot read. */
  readonly reporter?: Pick<Reporter, "report"> | undefined;
  readonly observer?: TaskObserver | undefined;
  /** For events of tasks without a time. Default: the time of the system. */
  readonly clock?: Pick<Clock, "now"> | undefined;
};

/** The context of the ports on this database. */
export const sqlTaskContext = (
  database: Database,
  { reporter = { report: () => {} }, observer, clock = new SystemClock() }: SqlTaskOptions,
): SqlTaskContext => ({
  database,
  turns: new AccountTurns(),
  unreadable: new UnreadableTasks(reporter),
  observer,
  clock,
});
