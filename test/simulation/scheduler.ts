/** A process of the simulation. Its events do not run while it is paused, and never again after it was killed. */
export type Owner = { readonly name: string; alive: boolean; paused: boolean };

type Event = {
  /** `undefined`: the event belongs to the network or to the provider, and survives every process. */
  readonly owner: Owner | undefined;
  readonly label: string;
  readonly at: number;
  readonly run: () => void;
  canceled: boolean;
};

export type Timer = { cancel(): void };

/** Mulberry32: fast, and good enough to choose between events. The same seed gives the same numbers. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 to 1, without 1. */
  readonly next = (): number => {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };

  /** An integer from 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  oneOf<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}

const resolved = Promise.resolve();

/**
 * Virtual time, and the order of everything that is awaited: each call of a port and each timer is an event, and the
 * seed chooses which of those that could happen now is next.
 */
export class Scheduler {
  /** True time, in epoch milliseconds. The clock of a process may show another one. */
  now: number;
  /** What happened, if the run is traced. */
  readonly trace: string[] | undefined;
  readonly random: SeededRandom;
  /** Number of events that have happened. */
  events = 0;
  /** The process whose event has happened last: its code runs until nothing of it can go on. */
  running: Owner | undefined;
  private ready: Event[] = [];
  private timers: Event[] = [];
  private readonly start: number;

  constructor(random: SeededRandom, start: number, trace: string[] | undefined) {
    this.random = random;
    this.start = start;
    this.now = start;
    this.trace = trace;
  }

  note(text: string): void {
    this.trace?.push(`${String(this.now - this.start).padStart(9)} ${text}`);
  }

  /** Adds an event that can happen from now on. */
  add(owner: Owner | undefined, label: string, run: () => void): void {
    this.ready.push({ owner, label, at: this.now, run, canceled: false });
  }

  /** Adds an event that can happen when `milliseconds`, rounded up, have passed. */
  after(owner: Owner | undefined, milliseconds: number, label: string, run: () => void): Timer {
    const event: Event = { owner, label, at: this.now + Math.ceil(milliseconds), run, canceled: false };
    this.timers.push(event);
    return {
      cancel() {
        event.canceled = true;
      },
    };
  }

  /**
   * Lets events happen that the seed chooses, one by one, until there is none, or `goOn` returns `false`. After each
   * event, every promise that can continue does so: Node.js runs a tick after the microtasks that are waiting, and
   * after those that they add.
   */
  run(goOn: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = () => {
        try {
          if (goOn() && this.step()) void resolved.then(tick);
          else resolve();
        } catch (error) {
          reject(error);
        }
      };
      const tick = () => process.nextTick(next);
      tick();
    });
  }

  /** Runs code of a process outside of an event. */
  as<T>(owner: Owner, code: () => T): T {
    this.running = owner;
    return code();
  }

  private step(): boolean {
    this.wakeDue();
    const { ready } = this;
    let candidates = ready.length;
    while (candidates > 0) {
      const index = this.random.below(candidates);
      const event = ready[index] as Event;
      if (event.owner?.paused === true && event.owner.alive) {
        // Stays, behind those that can happen.
        candidates -= 1;
        ready[index] = ready[candidates] as Event;
        ready[candidates] = event;
        continue;
      }
      ready[index] = ready[candidates - 1] as Event;
      ready[candidates - 1] = ready[ready.length - 1] as Event;
      ready.pop();
      candidates -= 1;
      if (event.canceled || event.owner?.alive === false) continue;
      if (this.trace !== undefined) this.note(`${event.owner?.name ?? "network"}: ${event.label}`);
      this.events += 1;
      this.running = event.owner;
      event.run();
      return true;
    }
    return false;
  }

  /** Moves time to the next timer that is due within `milliseconds`. Returns `false` if there is none. */
  advanceToTimer(milliseconds: number): boolean {
    let next = Number.POSITIVE_INFINITY;
    for (const { at, canceled, owner } of this.timers) {
      if (!canceled && owner?.alive !== false && owner?.paused !== true && at < next) next = at;
    }
    if (next > this.now + milliseconds) return false;
    this.now = Math.max(this.now, next);
    return true;
  }

  private wakeDue(): void {
    const { timers, now } = this;
    let kept = 0;
    for (const event of timers) {
      if (event.canceled || event.owner?.alive === false) continue;
      if (event.at <= now) this.ready.push(event);
      else {
        timers[kept] = event;
        kept += 1;
      }
    }
    timers.length = kept;
  }
}
