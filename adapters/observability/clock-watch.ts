import type { Logger } from "pino";
import type { Metrics } from "./metrics.js";

/** A machine that is synchronized differs by much less. The decisions of the instances do not depend on it. */
const DIFFERENCE_MILLISECONDS_MAX = 5_000;

/**
 * At about this difference, whatever still uses the machine's clock fails: storages refuse signatures, and certificates
 * look expired. If the database's clock is the wrong one, receivers refuse the signatures of webhooks.
 */
const READY_MILLISECONDS_MAX = 300_000;

/** A larger correction is no measurement error. */
const SET_MILLISECONDS_MIN = 1_000;

/** Reports in the log and in a metric how far this machine's clock is from the one that all instances decide by. */
export class ClockWatch {
  private readonly logger: Pick<Logger, "warn" | "info">;
  private readonly metrics: Metrics;
  private isFirst = true;
  private differs = false;

  constructor(logger: Pick<Logger, "warn" | "info">, metrics: Metrics) {
    this.logger = logger;
    this.metrics = metrics;
  }

  compared({
    wallAheadMilliseconds,
    correctedMilliseconds,
  }: {
    readonly wallAheadMilliseconds: number;
    readonly correctedMilliseconds: number;
  }): void {
    const aheadSeconds = inSeconds(wallAheadMilliseconds);
    this.metrics.clockDifferenceSeconds.set(aheadSeconds);
    if (!this.isFirst && Math.abs(correctedMilliseconds) >= SET_MILLISECONDS_MIN) {
      this.logger.warn({ event: "clock_set", seconds: inSeconds(correctedMilliseconds) });
    }
    this.isFirst = false;
    const differs = Math.abs(wallAheadMilliseconds) > DIFFERENCE_MILLISECONDS_MAX;
    if (differs && !this.differs) this.logger.warn({ event: "clock_differs", aheadSeconds });
    if (!differs && this.differs) this.logger.info({ event: "clock_agrees", aheadSeconds });
    this.differs = differs;
  }
}

/** For `/readyz`, where instances share a database. */
export const clockCheck = (wallAheadMilliseconds: number) => {
  const difference = Math.abs(wallAheadMilliseconds);
  const direction = wallAheadMilliseconds > 0 ? "ahead of" : "behind";
  const detail =
    difference <= DIFFERENCE_MILLISECONDS_MAX
      ? "This machine's clock agrees with the database's."
      : `This machine's clock is ${Math.round(difference / 1000)} s ${direction} the database's. Synchronize both (NTP).`;
  return { name: "clock", ok: difference <= READY_MILLISECONDS_MAX, detail };
};

const inSeconds = (milliseconds: number): number => Math.round(milliseconds) / 1000;
