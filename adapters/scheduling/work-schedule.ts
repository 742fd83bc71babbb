import { type ScheduledTask, schedule } from "node-cron";
import type { Clock } from "../../application/ports/clock.js";

/** Something to do again and again; `cron` has six fields, seconds first, in UTC. */
export type Work<Name extends string = string> = {
  readonly name: Name;
  readonly cron: string;
  /** `stopping` is aborted when nothing more should be begun. */
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
};

/**
 * Runs each work by its cron expression, and at once when it is woken; never two runs of the same work at a time.
 * A run that throws is handed to `onFailure`, and the schedule goes on. A bad cron expression is thrown by `start`.
 */
export class WorkSchedule<Name extends string> {
  private readonly flights: ReadonlyMap<Name, SingleFlight>;
  private readonly works: readonly Work<Name>[];
  private readonly clock: Clock;
  private readonly onFailure: (work: string, error: unknown) => void;
  private ticking: ScheduledTask[] = [];
  private readonly stopping = new AbortController();

  constructor(works: readonly Work<Name>[], clock: Clock, onFailure: (work: string, error: unknown) => void) {
    this.works = works;
    this.clock = clock;
    this.onFailure = onFailure;
    this.flights = new Map(
      works.map(({ name, run }) => [
        name,
        new SingleFlight(
          () => run(this.stopping.signal),
          (error) => onFailure(name, error),
        ),
      ]),
    );
  }

  start(): void {
    this.ticking = this.works.map(({ name, cron }) =>
      schedule(cron, () => this.flights.get(name)?.runUnlessRunning(), {
        name,
        timezone: "UTC",
        noOverlap: true,
        suppressMissedWarning: true,
        logger: this.cronLog(name),
      }),
    );
  }

  /** Runs the work now or, if it is running, once more right after: it may have looked before there was news. */
  wake(name: Name): void {
    if (!this.stopping.signal.aborted) this.flights.get(name)?.runOnceMore();
  }

  /** Starts nothing any more, and waits for what is running, but not longer than the deadline. */
  async stop(deadlineMilliseconds: number): Promise<void> {
    this.stopping.abort();
    const ticking = this.ticking.splice(0);
    await Promise.all(ticking.map((task) => task.destroy()));
    const landed = new AbortController();
    const landings = Promise.all([...this.flights.values()].map((flight) => flight.land()));
    await Promise.race([landings, this.clock.sleep(deadlineMilliseconds, landed.signal)]);
    landed.abort();
  }

  /** node-cron would write to the console. A tick that comes while the work is running is nothing to tell. */
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

/** At most one run at a time, and one more remembered. */
class SingleFlight {
  private readonly run: () => Promise<unknown>;
  private readonly onFailure: (error: unknown) => void;
  private running: Promise<void> | undefined;
  private again = false;

  constructor(run: () => Promise<unknown>, onFailure: (error: unknown) => void) {
    this.run = async () => run(); // so that what is thrown is always a rejection
    this.onFailure = onFailure;
  }

  runUnlessRunning(): Promise<void> {
    this.running ??= this.fly();
    return this.running;
  }

  runOnceMore(): void {
    this.again = this.running !== undefined;
    void this.runUnlessRunning();
  }

  /** Ends with the run that is on its way; the one remembered is forgotten. */
  async land(): Promise<void> {
    this.again = false;
    await this.running;
  }

  private async fly(): Promise<void> {
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
