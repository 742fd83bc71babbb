import { setImmediate as turn } from "node:timers/promises";
import type { HandClock } from "../../adapters/memory/hand-clock.js";

/** A call is done, or its connection is lost: before the call is done, or after it and before the answer. */
export type CallOutcome = "done" | "lost_before" | "lost_after";

/** Thrown by a call whose connection is lost: the use case cannot know whether the call was done. */
export class ConnectionLost extends Error {}

type Waiting = { readonly losable: boolean; readonly go: (outcome: CallOutcome) => Promise<void> };

/** Methods of ports that return immediately, without a promise. */
const INSTANT: ReadonlySet<string | symbol> = new Set(["canMake", "places", "readiness", "nextPollMilliseconds"]);

/**
 * Halts every call of the guarded ports until the test lets it continue. So the test controls how the steps of
 * concurrent use cases interleave. A use case whose calls never continue behaves as if its process was killed.
 */
export class PortGates {
  private readonly settled: () => Promise<unknown>;
  private waiting: Waiting[] = [];
  private isKilled = false;

  /** The clock of the use cases, if it waits for their stores. */
  constructor(clock?: Pick<HandClock, "settled">) {
    this.settled = () => clock?.settled() ?? turn();
  }

  get halted(): number {
    return this.waiting.length;
  }

  /** The same port with gated calls. Only calls of a `losable` port, such as a database, can lose their connection. */
  guard<Port extends object>(port: Port, { losable }: { readonly losable: boolean }): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        if (INSTANT.has(name)) return member.bind(target);
        return (...args: unknown[]) => this.halt(losable, () => member.apply(target, args));
      },
    });
  }

  /** Lets one halted call continue. Resolves when it has ended and the code after it has reached its next halt. */
  async resume(index: number, outcome: CallOutcome = "done"): Promise<void> {
    const [waiting] = this.waiting.splice(index % Math.max(1, this.waiting.length), 1);
    await waiting?.go(waiting.losable ? outcome : "done");
    await this.settled();
  }

  /** Lets all calls that are halted now continue at the same time. */
  async resumeAll(): Promise<void> {
    await Promise.all(this.waiting.splice(0).map(({ go }) => go("done")));
    await this.settled();
  }

  /**
   * Simulates a killed process: halted calls never continue, nor do the next calls of use cases that wait for the
   * clock. A process that starts instead needs gates of its own.
   */
  kill(): void {
    this.waiting = [];
    this.isKilled = true;
  }

  private halt<T>(losable: boolean, call: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const go = async (outcome: CallOutcome): Promise<void> => {
        try {
          if (outcome === "lost_before") throw new ConnectionLost();
          const answer = await call();
          if (outcome === "lost_after") throw new ConnectionLost();
          resolve(answer);
        } catch (error) {
          reject(error);
        }
      };
      if (!this.isKilled) this.waiting.push({ losable, go });
    });
  }
}
