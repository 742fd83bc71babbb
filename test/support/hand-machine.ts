import type { MachineTime } from "../../adapters/system/steady-clock.js";

/** A machine whose time passes by hand, and whose wall clock anybody sets. */
export class HandMachine implements MachineTime {
  private wallMilliseconds: number;
  private steadyMilliseconds = 5_000;
  private uptimeMilliseconds = 90_000;

  constructor(wallMilliseconds: number) {
    this.wallMilliseconds = wallMilliseconds;
  }

  readonly wall = (): number => this.wallMilliseconds;
  readonly steady = (): number => this.steadyMilliseconds;
  readonly uptime = (): number => this.uptimeMilliseconds;

  pass(milliseconds: number): void {
    this.wallMilliseconds += milliseconds;
    this.steadyMilliseconds += milliseconds;
    this.uptimeMilliseconds += milliseconds;
  }

  /** As Linux does: the steady clock stops. */
  suspend(milliseconds: number): void {
    this.wallMilliseconds += milliseconds;
    this.uptimeMilliseconds += milliseconds;
  }

  setWall(milliseconds: number): void {
    this.wallMilliseconds += milliseconds;
  }
}
