import type { Logger } from "pino";
import { StoreAway } from "../../application/ports/stores/store-errors.js";

const LINE_MILLISECONDS = 1_000;

/**
 * While the database is away, every request and all background work fails with the same error: one line a second says
 * so, with the number of failures since the line before, instead of a stack for each.
 */
export class AwayLog {
  private readonly logger: Logger;
  private readonly milliseconds: () => number;
  private failures = 0;
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(logger: Logger, milliseconds: () => number = () => performance.now()) {
    this.logger = logger;
    this.milliseconds = milliseconds;
  }

  /** Returns whether the error says that the database is away. Then nobody else has to log it. */
  takes(error: unknown): boolean {
    if (!(error instanceof StoreAway)) return false;
    this.failures += 1;
    const now = this.milliseconds();
    if (now - this.loggedAt < LINE_MILLISECONDS) return true;
    this.loggedAt = now;
    this.logger.error({ event: "database_unavailable", failures: this.failures, reason: error.message });
    this.failures = 0;
    return true;
  }
}
