import { type ScheduledTask, schedule } from "node-cron";
import type { Clock } from "../../application/ports/clock.js";

/** Background work that runs periodically; `cron` has six fields, seconds first, in UTC. */
export type Work<Name extends string = string> = {
  readonly name: Name;
  readonly cron: string;
  /** Must start nothing new once `stopping` is aborted. */
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
};

/** Interval of the check whether the clock was set back. */
const CLOCK_WATCH_MILLISECONDS = 1_000;

/**
 * Runs each work at the times of its cron expression, and immediately on `wake`; never runs the same work twice at the
 * same time. Calls `onFailure` when a run throws; later runs still take place. `start` throws if a cron expression is
 * invalid.
 */
export class WorkSchedule<Name extends string> {
  private readonly singleRuns: ReadonlyMap<Name, SingleRun>;
  private readonly works: readonly Work<Name>[];
  private readonly clock: Clock;
  private readonly onFailure: (work: string, error: unknown) => void;
  private cronTasks: ScheduledTask[] = [];
  private clockWatch: NodeJS.Timeout | undefined;
  private readonly stopping = new AbortController();

  constructor(works: readonly Work<Name>[], clock: Clock, onFailure: (work: string, error: unknown) => void) {
    this.works = works;
    this.clock = clock;
    this.onFailure = onFailure;
    this.singleRuns = new Map(
      works.map(({ name, run }) => [
        name,
        new SingleRun(
          () => run(this.stopping.signal),
          (error) => onFailure(name, error),
        ),
      ]),
    );
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
      schedule(cron, () => this.singleRuns.get(name)?.runUnlessRunning(), {
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

  /** Runs the work now or, if it is running, once more afterwards: the current run may have missed the new work. */
  wake(name: Name): void {
    if (!this.stopping.signal.aborted) this.singleRuns.get(name)?.runOnceMore();
  }

  /** Starts no more runs. Resolves when the current runs have ended, or at the deadline. */
  async stop(deadlineMilliseconds: number): Promise<void> {
    this.stopping.abort();
    clearInterval(this.clockWatch);
    const cronTasks = this.cronTasks.splice(0);
    await Promise.all(cronTasks.map((task) => task.destroy()));
    const ended = new AbortController();
    const runs = Promise.all([...this.singleRuns.values()].map((singleRun) => singleRun.end()));
    await Promise.race([runs, this.clock.sleep(deadlineMilliseconds, ended.signal)]);
    ended.abort();
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

/** Runs work at most once at a time, and remembers at most one further run. */
class SingleRun {
  private readonly run: () => Promise<unknown>;
  private readonly onFailure: (error: unknown) => void;
  private running: Promise<void> | undefined;
  private again = false;

  constructor(run: () => Promise<unknown>, onFailure: (error: unknown) => void) {
    this.run = async () => run(); // a synchronous throw becomes a rejection
    this.onFailure = onFailure;
  }

  runUnlessRunning(): Promise<void> {
    this.running ??= this.runUntilDone();
    return this.running;
  }

  runOnceMore(): void {
    this.again = this.running !== undefined;
    void this.runUnlessRunning();
  }

  /** Forgets the remembered run. Resolves when the current run has ended. */
  async end(): Promise<void> {
    this.again = false;
    await this.running;
  }

  private async runUntilDone(): Promise<void> {
    do {
      this.again = false;
      try {
        await this.run();
      } catch (error) {
        this.onFailure(error);
      }
    } while (this.again);
    this.running = undefined;
  }
}
