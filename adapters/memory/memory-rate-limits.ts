import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../application/ports/clock.js";
import type { RateLimitedParty, RateLimits } from "../../application/ports/rate-limits.js";
import { RATE_LIMITS, RATE_WINDOW_MILLISECONDS, type RequestKind } from "../../domain/panorama-policy.js";
import { type Admission, type AdmissionLog, admitRequest, type RateLimited } from "../../domain/rate-limit.js";

/** Rate limits counted in this process. Only correct if the service has a single instance. */
export class MemoryRateLimits implements RateLimits {
  private readonly clock: Clock;
  /** By kind and party. Ordered by `since`, so that idle ones come first. */
  private readonly logs = Object.fromEntries(
    Object.keys(RATE_LIMITS).map((kind): [string, Logs] => [kind, new Map()]),
  ) as Record<RequestKind, Logs>;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Number of stored logs: one for each party and kind with an admission in the last window. */
  get size(): number {
    return Object.values(this.logs).reduce((sum, { size }) => sum + size, 0);
  }

  admit(party: RateLimitedParty, kind: RequestKind): Result<Omit<Admission, "log">, RateLimited> {
    const now = this.clock.now().getTime();
    const logs = this.logs[kind];
    deleteIdle(logs, now);
    const stored = logs.get(party);
    const admitted = admitRequest(stored?.log ?? [], RATE_LIMITS[kind], now);
    if (admitted.isErr()) return err(admitted.error);
    const { log, limit, remaining, resetSeconds } = admitted.value;
    if (stored === undefined) logs.set(party, { log, since: now });
    else stored.log = log;
    return ok({ limit, remaining, resetSeconds });
  }
}

/** `since`: an admission after which the log was not moved to the end of the map. */
type Stored = { log: AdmissionLog; readonly since: number };

type Logs = Map<RateLimitedParty, Stored>;

/** Looks at the logs that began a window ago: deletes those without a later admission, and moves the others to the end. */
const deleteIdle = (logs: Logs, now: number): void => {
  for (const [party, { log, since }] of logs) {
    if (since > now - RATE_WINDOW_MILLISECONDS) return;
    logs.delete(party);
    const last = log.at(-1) ?? 0;
    if (last > now - RATE_WINDOW_MILLISECONDS) logs.set(party, { log, since: last });
  }
};
