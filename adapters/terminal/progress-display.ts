import type { Writable } from "node:stream";
import type { Clock } from "../../application/ports/clock.js";

/** Shows the current step to a person. `end` clears the line; `clear` too, until the next change. */
export interface ProgressDisplay {
  step(text: string): void;
  clear(): void;
  end(): void;
}

type Terminal = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** A progress bar on a terminal, plain lines on any other stream. */
export const progressOn = (stream: Terminal, clock: Clock): ProgressDisplay =>
  stream.isTTY === true
    ? new ProgressBar(stream, clock)
    : { step: (text) => stream.write(`${text}\n`), clear: () => {}, end: () => {} };

export const silentProgress: ProgressDisplay = { step: () => {}, clear: () => {}, end: () => {} };

const BAR_CHARACTERS = 24;
const FRAME_MILLISECONDS = 200;
/** The service reports no progress, so the bar approaches its end exponentially: after this time it is at 63 %. */
const TYPICAL_SECONDS = 30;
const CLEAR_LINE = "\r\u001b[2K";

class ProgressBar implements ProgressDisplay {
  private readonly stream: Terminal;
  private readonly clock: Clock;
  private readonly ended = new AbortController();
  private readonly start: number;
  private text = "";

  constructor(stream: Terminal, clock: Clock) {
    this.stream = stream;
    this.clock = clock;
    this.start = clock.now().getTime();
    void this.draw();
  }

  step(text: string): void {
    this.text = text;
  }

  clear(): void {
    this.stream.write(CLEAR_LINE);
  }

  end(): void {
    this.ended.abort();
    this.clear();
  }

  private async draw(): Promise<void> {
    const { signal } = this.ended;
    for (;;) {
      await this.clock.sleep(FRAME_MILLISECONDS, signal);
      if (signal.aborted) return;
      const seconds = (this.clock.now().getTime() - this.start) / 1000;
      const filled = Math.floor(BAR_CHARACTERS * (1 - Math.exp(-seconds / TYPICAL_SECONDS)));
      const bar = "█".repeat(filled) + "░".repeat(BAR_CHARACTERS - filled);
      const line = `${bar} ${Math.floor(seconds)} s  ${this.text}`;
      // A longer line would wrap, and then it could not be overwritten.
      this.stream.write(CLEAR_LINE + line.slice(0, (this.stream.columns ?? 80) - 1));
    }
  }
}
