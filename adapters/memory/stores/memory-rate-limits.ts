import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import type { RateLimitedParty, RateLimits } from "../../../application/ports/stores/rate-limits.js";
import {
  type Admission,
  type AdmissionLog,
  admitRequest,
  type Rate,
  type RateLimited,
} from "../../../domain/credits/rate-limit.js";

/** Rate limits counted in this process. Only correct if the service has a single instance. */
export class MemoryRateLimits<Kind extends string> implements RateLimits<Kind> {
  private readonly clock: Pick<Clock, "now">;
  private readonly counters: Readonly<Record<Kind, Counter>>;

  /** `rates`: the limit of each kind of request, for example those of a policy (domain/credits/policy.ts). */
  constructor(clock: Pick<Clock, "now">, rates: Readonly<Record<Kind, Rate>>) {
    this.clock = clock;
    // The entries have the keys of `rates`.
    this.counters = Object.fromEntries(
      Object.entries<Rate>(rates).map(([kind, rate]): [string, Counter] => [
        kind,
        { rate, logs: new Map(), deletedAt: Number.NEGATIVE_INFINITY },
      ]),
    ) as Record<Kind, Counter>;
  }

  /** Number of stored logs: one for each party and kind with an admission in the last window. */
  get size(): number {
    return Object.values<Counter>(this.counters).reduce((sum, { logs }) => sum + logs.size, 0);
  }

  admit(party: RateLimitedParty, kind: Kind): Result<Omit<Admission, "log">, RateLimited> {
    const now = this.clock.now().getTime();
    const counter = this.counters[kind];
    const { rate, logs } = counter;
    if (Math.abs(now - counter.deletedAt) >= DELETION_MILLISECONDS) {
      counter.deletedAt = now;
      deleteIdle(logs, now - rate.windowSeconds * 1000);
    }
    const stored = logs.get(party);
    const admitted = admitRequest(stored?.log ?? [], rate, now);
    if (admitted.isErr()) return err(admitted.error);
    const { log, limit, remaining, resetSeconds } = admitted.value;
    if (stored === undefined) logs.set(party, { log, since: now });
    else stored.log = log;
    return ok({ limit, remaining, resetSeconds });
  }
}

/** `since`: an admission after which the log was not moved to the end of the map. */
type Stored = { log: AdmissionLog; readonly since: number };

/** Ordered by `since`, so that idle ones come first. */
type Logs = Map<RateLimitedParty, Stored>;

/** `deletedAt`: when idle logs were deleted last. */
type Counter = { readonly rate: Rate; readonly logs: Logs; deletedAt: number };

/** Not at each request: the first entries of a `Map` are slow to find after many were deleted. */
const DELETION_MILLISECONDS = 1000;

/** Deletes the logs that began a window ago and have no later admission. Moves the others of that age to the end. */
const deleteIdle = (logs: Logs, windowAgo: number): void => {
  for (const [party, { log, since }] of logs) {
    if (since > windowAgo) return;
    logs.delete(party);
    const last = log.at(-1) ?? 0;
    if (last > windowAgo) logs.set(party, { log, since: last });
  }
};
