import { randomFillSync } from "node:crypto";
import { v7 } from "uuid";
import type { Clock } from "../../application/ports/clock.js";
import { MadeIds, type Named } from "./made-ids.js";
import { SystemClock } from "./system-clock.js";

const PREFIXES = { task: "pan", account: "acc", order: "ord", key: "key", endpoint: "whk" } as const;
const SEQUENCE_BYTES = 4;

/** An id is a prefix and a version 7 UUID, so ids sort by creation time. All other values are random bytes. */
export class RandomIds extends MadeIds {
  private readonly clock: Pick<Clock, "now">;
  private milliseconds = Number.NEGATIVE_INFINITY;
  private sequence = 0;

  constructor(clock: Pick<Clock, "now"> = new SystemClock()) {
    super();
    this.clock = clock;
  }

  /** Sorts after all earlier ids, also of the same millisecond, and after the clock was set back. */
  protected nextId(of: Named): string {
    const now = this.clock.now().getTime();
    if (now > this.milliseconds) {
      this.milliseconds = now;
      this.sequence = this.random(SEQUENCE_BYTES).readUInt32BE() >>> 1; // leaves room for as many in this millisecond
    } else this.sequence += 1;
    return `${PREFIXES[of]}_${v7({ msecs: this.milliseconds, seq: this.sequence }).replaceAll("-", "")}`;
  }

  /**
   * Fills the pool when it is used up, because a call for each value takes twenty times as long. Valid until the next
   * call.
   */
  protected random(bytes: number): Buffer {
    if (used + bytes > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  }
}

const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;
