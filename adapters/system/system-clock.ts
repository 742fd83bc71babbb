import type { Clock } from "../../application/ports/clock.js";

/** The wall clock of this machine: for what concerns no other process. */
export class SystemClock implements Clock {
  readonly sleep = sleep;

  now(): Date {
    return new Date();
  }
}

/** `Clock.sleep` in real time. */
export const sleep: Clock["sleep"] = (milliseconds, signal) =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    signal?.addEventListener("abort", wake);
  });
