import { writeSync } from "node:fs";
import type { DestinationStream } from "pino";

/** A write that wakes the reader of a pipe takes as long as the lines of several requests. A pipe holds 64 kB. */
const BUFFER_CHARACTERS = 32 * 1024;
const FLUSH_MILLISECONDS = 1000;
/** While lines cannot be written, about this many characters wait. Further lines are lost. */
const WAITING_MAX = 1024 * 1024;
/** The pause between two attempts after a failed write. */
const RETRY_MILLISECONDS = 50;
/** Maximum time that an exit waits for a pipe whose reader is slow. */
const EXIT_MILLISECONDS = 1000;

const STDERR = 2;
const NOTHING = Buffer.alloc(0);

/**
 * Writes log lines in bulk, because one write per line costs more than the line: when they fill the buffer, after a
 * second at the latest, and when the process exits. A warning or an error is written at once, after the lines before
 * it.
 *
 * Never throws and never waits for the log. On a full disk, on a pipe that nobody reads, or when its reader has gone,
 * lines wait in memory; if too many wait, new ones are lost. `onLost` is called for each lost line, and one line tells
 * their number when the log can be written again. Only the exit waits, for a second at most.
 */
export class LogDestination implements DestinationStream {
  private readonly fileDescriptor: number;
  private readonly onLost: () => void;
  private lines: string[] = [];
  private lineCharacters = 0;
  /** The rest that the last write did not take. It may begin in the middle of a line. */
  private rest: Buffer = NOTHING;
  private lost = 0;
  /** Error of the last write. `undefined` if it succeeded. */
  private failure: string | undefined;
  private retryAt = 0;

  constructor(fileDescriptor: number, onLost: () => void = () => {}) {
    this.fileDescriptor = fileDescriptor;
    this.onLost = onLost;
    // Opens the stream, which makes a pipe or a socket non-blocking. A blocked write would stop the whole process.
    if (fileDescriptor === STDERR) void process.stderr;
    setInterval(() => this.flush(), FLUSH_MILLISECONDS).unref();
    process.once("exit", () => this.flushAtExit());
  }

  write(line: string): void {
    if (this.rest.length + this.lineCharacters + line.length > WAITING_MAX) {
      this.lost += 1;
      this.onLost();
      return;
    }
    this.lines.push(line);
    this.lineCharacters += line.length;
    // Not for each line: a write that fails costs more than the line.
    if (this.failure !== undefined && performance.now() < this.retryAt) return;
    if (this.lineCharacters >= BUFFER_CHARACTERS || !line.startsWith('{"level":"info"')) this.flush();
  }

  /** Writes everything that waits, and then how many lines were lost. */
  flush(): void {
    try {
      while (this.refill()) this.rest = this.rest.subarray(writeSync(this.fileDescriptor, this.rest));
      this.failure = undefined;
    } catch (error) {
      this.failure = String((error as NodeJS.ErrnoException).code);
      this.retryAt = performance.now() + RETRY_MILLISECONDS;
    }
  }

  /** Takes the next lines into `rest` if it is empty. Returns `false` if there are none. */
  private refill(): boolean {
    if (this.rest.length > 0) return true;
    if (this.lines.length > 0) {
      this.rest = Buffer.from(this.lines.join(""));
      this.lines = [];
      this.lineCharacters = 0;
    } else if (this.lost > 0) {
      this.rest = Buffer.from(lostLine(this.lost, this.failure));
      this.lost = 0;
    }
    return this.rest.length > 0;
  }

  /** Waits only for a slow reader: no other failure ends while this process waits. */
  private flushAtExit(): void {
    const deadline = performance.now() + EXIT_MILLISECONDS;
    for (;;) {
      this.flush();
      if (this.failure !== "EAGAIN" || performance.now() > deadline) return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MILLISECONDS);
    }
  }
}

const lostLine = (lines: number, reason: string | undefined): string =>
  `${JSON.stringify({ level: "warn", time: new Date().toISOString(), event: "log_lines_lost", lines, reason })}\n`;
