import { HandClock } from "../../adapters/memory/hand-clock.js";

/** Ends each sleep immediately by advancing the clock to its end. */
export class ImmediateClock extends HandClock {
  /** A sleep with a signal is a time limit of other work, so it ends only when the clock is advanced. */
  override sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return signal === undefined ? this.advance(milliseconds) : super.sleep(milliseconds, signal);
  }
}
