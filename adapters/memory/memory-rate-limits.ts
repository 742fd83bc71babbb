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
  /** By kind and party. Ordered by the last admission, so that idle ones come first. */
  private readonly logs = { read: new Map(), write: new Map(), login: new Map() } satisfies Record<RequestKind, Logs>;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Number of stored logs: one for each party and kind with an admission in the last window. */
  get size(): number {
    const { read, write, login } = this.logs;
    return read.size + write.size + login.size;
  }

  async admit(party: RateLimitedParty, kind: RequestKind): Promise<Result<Omit<Admission, "log">, RateLimited>> {
    const now = this.clock.now().getTime();
    const logs: Logs = this.logs[kind];
    deleteIdle(logs, now);
    return admitRequest(logs.get(party) ?? [], RATE_LIMITS[kind], now).map(
      ({ log, limit, remaining, resetSeconds }) => {
        logs.delete(party);
        logs.set(party, log);
        return { limit, remaining, resetSeconds };
      },
    );
  }
}

type Logs = Map<RateLimitedParty, AdmissionLog>;

const deleteIdle = (logs: Logs, now: number): void => {
  for (const [party, log] of logs) {
    if ((log.at(-1) ?? 0) > now - RATE_WINDOW_MILLISECONDS) return;
    logs.delete(party);
  }
};
