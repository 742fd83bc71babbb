import { setImmediate as turn } from "node:timers/promises";
import type { HandClock } from "../../adapters/memory/hand-clock.js";

/** Methods of ports that return immediately, without a promise. */
const INSTANT: ReadonlySet<string | symbol> = new Set(["checkRequest", "places", "readiness", "nextPollMilliseconds"]);

/**
 * Halts every call of the guarded ports until the test lets it continue. So the test controls how the steps of
 * concurrent use cases interleave. A use case whose calls never continue behaves as if its process was killed.
 */
export class PortGates {
  private readonly settled: () => Promise<unknown>;
  /** Each lets its call continue. */
  private waiting: (() => Promise<void>)[] = [];
  private isKilled = false;

  /** The clock of the use cases, if it waits for their stores. */
  constructor(clock?: Pick<HandClock, "settled">) {
    this.settled = () => clock?.settled() ?? turn();
  }

  /** The same port with gated calls. */
  guard<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        if (INSTANT.has(name)) return member.bind(target);
        return (...args: unknown[]) => this.halt(() => member.apply(target, args));
      },
    });
  }

  /** Lets the first halted call continue. Resolves when it has ended and the code after it is halted again. */
  async resume(): Promise<void> {
    await this.waiting.shift()?.();
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

  private halt<T>(call: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!this.isKilled) this.waiting.push(() => call().then(resolve, reject));
    });
  }
}
