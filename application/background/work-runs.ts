import type { Clock, MakeSchedule, Schedule, ScheduledWork } from "../ports/clock.js";

/** Common part of all schedules. */
export type WorkRuns<Name extends string> = Pick<Schedule<Name>, "wake" | "stop"> & {
  /** Runs the work unless it is running. Resolves when the run has ended; never rejects. */
  run(name: Name): Promise<void>;
};

/** Runs each work at most once at a time, at once on `wake`, never after `stop`. Calls `onFailure` if a run throws. */
export function workRuns<Name extends string>(
  works: readonly Pick<ScheduledWork<Name>, "name" | "run">[],
  clock: Clock,
  onFailure: (work: Name, error: unknown) => void,
): WorkRuns<Name> {
  const stopping = new AbortController();
  const runs = new Map(
    works.map(({ name, run }) => [
      name,
      new SingleRun(
        () => run(stopping.signal),
        (error) => onFailure(name, error),
      ),
    ]),
  );
  return {
    async run(name) {
      if (!stopping.signal.aborted) await runs.get(name)?.runUnlessRunning();
    },
    wake(name) {
      if (!stopping.signal.aborted) runs.get(name)?.runOnceMore();
    },
    async stop(deadlineMilliseconds) {
      stopping.abort();
      const ended = new AbortController();
      const current = Promise.all([...runs.values()].map((run) => run.end()));
      await Promise.race([current, clock.sleep(deadlineMilliseconds, ended.signal)]);
      ended.abort();
    },
  };
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
    this.again = true; // a run that starts now resets it
    void this.runUnlessRunning();
  }

  /** Drops the remembered run. Resolves when the current run has ended. */
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

/** Schedules work by a clock alone. Setting the clock back or forward changes the start of at most one run. */
export function clockSchedule(clock: Clock): MakeSchedule {
  return (works, onFailure) => {
    const runs = workRuns(works, clock, onFailure);
    // One signal per work: Node.js warns about more than ten listeners of one signal.
    const repeated = works.map((work) => ({ work, stopping: new AbortController() }));
    const repeat = async ({ work, stopping: { signal } }: (typeof repeated)[number]): Promise<void> => {
      while (!signal.aborted) {
        await clock.sleep(millisecondsUntilNext(work, clock.now()), signal);
        await runs.run(work.name);
      }
    };
    return {
      start() {
        for (const one of repeated) void repeat(one);
      },
      wake: runs.wake,
      stop(deadlineMilliseconds) {
        for (const { stopping } of repeated) stopping.abort();
        return runs.stop(deadlineMilliseconds);
      },
    };
  };
}

/** A value above 0, at most the time between two runs. */
function millisecondsUntilNext({ everySeconds, offsetSeconds = 0 }: ScheduledWork, now: Date): number {
  const every = everySeconds * 1000;
  const since = (now.getTime() - offsetSeconds * 1000) % every;
  return every - since;
}
