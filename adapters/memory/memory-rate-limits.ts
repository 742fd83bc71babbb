import type { Result } from "neverthrow";
import type { Clock } from "../../application/ports/clock.js";
import type { RateLimitedParty, RateLimits } from "../../application/ports/rate-limits.js";
import {
  type Admission,
  type AdmissionLog,
  admitRequest,
  RATE_LIMITS,
  RATE_WINDOW_MILLISECONDS,
  type RateLimited,
  type RequestKind,
} from "../../domain/rate-limit.js";

/** Rate limits counted in this process. Only correct if the service has a single instance. */
export class MemoryRateLimits implements RateLimits {
  private readonly clock: Clock;
  /** Ordered by the last admission, so that idle ones come first. */
  private readonly logs = new Map<string, AdmissionLog>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Number of stored logs: one for each party and kind with an admission in the last window. */
  get size(): number {
    return this.logs.size;
  }

  async admit(party: RateLimitedParty, kind: RequestKind): Promise<Result<Omit<Admission, "log">, RateLimited>> {
    const now = this.clock.now().getTime();
    this.deleteIdle(now);
    const name = `${kind} ${party}`;
    return admitRequest(this.logs.get(name) ?? [], RATE_LIMITS[kind], now).map(({ log, ...admission }) => {
      this.logs.delete(name);
      this.logs.set(name, log);
      return admission;
    });
  }

  private deleteIdle(now: number): void {
    for (const [name, log] of this.logs) {
      if ((log.at(-1) ?? 0) > now - RATE_WINDOW_MILLISECONDS) return;
      this.logs.delete(name);
    }
  }
}
