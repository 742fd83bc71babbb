import { type ScheduledTask, schedule } from "node-cron";
import { type WorkRuns, workRuns } from "../../application/background/work-runs.js";
import type { Clock, MakeSchedule, Schedule, ScheduledWork } from "../../application/ports/clock.js";

/** Background work that runs periodically; `cron` has six fields, seconds first, in UTC. */
export type Work<Name extends string = string> = Pick<ScheduledWork<Name>, "name" | "run"> & { readonly cron: string };

/** Schedules work at the times of a calendar, with node-cron. */
export const cronSchedule =
  (clock: Clock): MakeSchedule =>
  (works, onFailure) =>
    new WorkSchedule(
      works.map((work) => ({ ...work, cron: cronOf(work) })),
      clock,
      onFailure,
    );

/** The times of the work as a cron expression. */
export const cronOf = ({
  everySeconds,
  offsetSeconds = 0,
}: Pick<ScheduledWork, "everySeconds" | "offsetSeconds">): string => {
  const second = offsetSeconds % 60;
  switch (everySeconds) {
    case 1:
      return "* * * * * *";
    case 5:
      return "*/5 * * * * *";
    case 60:
      return `${second} * * * * *`;
    case 3600:
      return `${second} ${Math.floor(offsetSeconds / 60)} * * * *`;
  }
};

/** Interval of the check whether the clock was set back. */
const CLOCK_WATCH_MILLISECONDS = 1_000;

/**
 * Runs each work at the times of its cron expression, and immediately on `wake`; never runs the same work twice at the
 * same time. Calls `onFailure` when a run throws; later runs still take place. `start` throws if a cron expression is
 * invalid.
 */
export class WorkSchedule<Name extends string> implements Schedule<Name> {
  private readonly runs: WorkRuns<Name>;
  private readonly works: readonly Work<Name>[];
  private readonly onFailure: (work: Name, error: unknown) => void;
  private cronTasks: ScheduledTask[] = [];
  private clockWatch: NodeJS.Timeout | undefined;

  constructor(works: readonly Work<Name>[], clock: Clock, onFailure: (work: Name, error: unknown) => void) {
    this.works = works;
    this.onFailure = onFailure;
    this.runs = workRuns(works, clock, onFailure);
  }

  start(): void {
    this.cronTasks = this.scheduleWorks();
    let last = Date.now();
    this.clockWatch = setInterval(() => {
      const now = Date.now();
      if (now < last) void this.restart();
      last = now;
    }, CLOCK_WATCH_MILLISECONDS);
  }

  private scheduleWorks(): ScheduledTask[] {
    return this.works.map(({ name, cron }) =>
      schedule(cron, () => this.runs.run(name), {
        name,
        timezone: "UTC",
        noOverlap: true,
        suppressMissedWarning: true,
        logger: this.cronLog(name),
      }),
    );
  }

  /** After the clock was set back, node-cron would wait until it shows the next time that it has planned. */
  private async restart(): Promise<void> {
    const cronTasks = this.cronTasks;
    this.cronTasks = this.scheduleWorks();
    await Promise.all(cronTasks.map((task) => task.destroy()));
  }

  wake(name: Name): void {
    this.runs.wake(name);
  }

  async stop(deadlineMilliseconds: number): Promise<void> {
    const ended = this.runs.stop(deadlineMilliseconds);
    clearInterval(this.clockWatch);
    const cronTasks = this.cronTasks.splice(0);
    await Promise.all(cronTasks.map((task) => task.destroy()));
    await ended;
  }

  /** Replaces node-cron's logging to the console. A time that is skipped because the work is running is not logged. */
  private cronLog(name: Name) {
    const silent = () => {};
    return {
      info: silent,
      warn: silent,
      debug: silent,
      error: (message: string | Error, error?: Error) => this.onFailure(name, error ?? message),
    };
  }
}
