import { uptime } from "node:os";
import type { Clock } from "../../application/ports/clock.js";
import { sleep } from "./system-clock.js";

/** Clocks of this machine, in milliseconds. */
export type MachineTime = {
  /** Since 1970, by the wall clock. A person or a time service may set it. */
  wall(): number;
  /** Never set, but on Linux it stops while the machine is suspended. */
  steady(): number;
  /** Since the machine was started, suspensions included. Takes a hundred times as long as the others. */
  uptime(): number;
};

/** The clocks of this machine. */
export const MACHINE_TIME: MachineTime = {
  wall: () => Date.now(),
  steady: () => performance.now(),
  uptime: () => {
    try {
      return uptime() * 1000;
    } catch {
      return performance.now(); // the system does not tell it
    }
  },
};

/** If the wall clock has moved this much more or less than the steady one, it was set or the machine was suspended. */
const DOUBTFUL_MILLISECONDS = 1_000;

/** A correction by more than this is a step: then the time may go back. Otherwise it stands still until it is right. */
const STEP_MILLISECONDS = 1_000;

/**
 * A clock that starts with the wall clock and then counts the time that passes, also while the machine is suspended.
 * Only `correct` changes it: setting the wall clock does not.
 */
export class SteadyClock implements Clock {
  readonly sleep = sleep;
  /** Called when the wall clock was set, or the machine was suspended: this clock may have to be corrected. */
  onDoubt: () => void = () => {};
  private readonly machine: MachineTime;
  /** Difference to add to the steady time. */
  private ahead: number;
  private wallAhead: number;
  private uptimeAhead: number;
  private shown = Number.NEGATIVE_INFINITY;

  constructor(machine: MachineTime = MACHINE_TIME) {
    const steady = machine.steady();
    this.machine = machine;
    this.wallAhead = machine.wall() - steady;
    this.uptimeAhead = machine.uptime() - steady;
    this.ahead = this.wallAhead;
  }

  now(): Date {
    const milliseconds = this.milliseconds();
    if (milliseconds > this.shown) this.shown = milliseconds;
    return new Date(this.shown);
  }

  /** The time with fractions of a millisecond, which may go back a little. */
  milliseconds(): number {
    const steady = this.machine.steady();
    const wallAhead = this.machine.wall() - steady;
    if (Math.abs(wallAhead - this.wallAhead) >= DOUBTFUL_MILLISECONDS) this.addSuspension(steady, wallAhead);
    return steady + this.ahead;
  }

  /** Milliseconds by which the wall clock is ahead of this one. Negative if it is behind. */
  wallAheadMilliseconds(): number {
    return this.machine.wall() - this.milliseconds();
  }

  correct(milliseconds: number): void {
    this.ahead += milliseconds;
    if (milliseconds < -STEP_MILLISECONDS) this.shown = Number.NEGATIVE_INFINITY;
  }

  private addSuspension(steady: number, wallAhead: number): void {
    const uptimeAhead = this.machine.uptime() - steady;
    const suspended = uptimeAhead - this.uptimeAhead;
    this.wallAhead = wallAhead;
    this.uptimeAhead = uptimeAhead;
    if (suspended >= DOUBTFUL_MILLISECONDS) this.ahead += suspended;
    this.onDoubt();
  }
}
