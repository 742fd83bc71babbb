import type { Clock } from "../../application/ports/clock.js";

/** The wall clock of this machine: for what concerns no other process. */
export class SystemClock implements Clock {
  readonly sleep = sleep;

  now(): Date {
    return new Date();
  }
}

/** Timers that should last longer end at once. */
const TIMER_MILLISECONDS_MAX = 2 ** 31 - 1;

/** `Clock.sleep` in real time, for at most 24 days. */
export const sleep: Clock["sleep"] = (milliseconds, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.min(milliseconds, TIMER_MILLISECONDS_MAX));
    signal?.addEventListener("abort", wake);
  });
