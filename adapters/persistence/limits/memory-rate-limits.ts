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

  /** `rates`: the limit of each kind of request, for example the limits of a policy (domain/credits/policy.ts). */
  constructor(clock: Pick<Clock, "now">, rates: Readonly<Record<Kind, Rate>>) {
    this.clock = clock;
    // The entries have the keys of `rates`.
    this.counters = Object.fromEntries(
      Object.entries<Rate>(rates).map(([kind, rate]): [string, Counter] => [
        kind,
        { rate, logs: new Map(), before: new Map(), since: Number.NEGATIVE_INFINITY },
      ]),
    ) as Record<Kind, Counter>;
  }

  /** Number of stored logs: for each party and kind with an admission in the last two windows, one or two. */
  get size(): number {
    return Object.values<Counter>(this.counters).reduce((sum, { logs, before }) => sum + logs.size + before.size, 0);
  }

  admit(party: RateLimitedParty, kind: Kind): Result<Omit<Admission, "log">, RateLimited> {
    const now = this.clock.now().getTime();
    const counter = this.counters[kind];
    dropIdle(counter, now);
    const admitted = admitRequest(counter.logs.get(party) ?? counter.before.get(party) ?? [], counter.rate, now);
    if (admitted.isErr()) return err(admitted.error);
    const { log, limit, remaining, resetSeconds } = admitted.value;
    counter.logs.set(party, log);
    return ok({ limit, remaining, resetSeconds });
  }

  /** Without requests, nothing else drops what the last ones have left. */
  async clean(): Promise<void> {
    const now = this.clock.now().getTime();
    for (const counter of Object.values<Counter>(this.counters)) dropIdle(counter, now);
  }
}

type Logs = Map<RateLimitedParty, AdmissionLog>;

/** `logs`: of the parties with an admission after `since`. `before`: of those with one in the window before that. */
type Counter = { readonly rate: Rate; logs: Logs; before: Logs; since: number };

/** Once in a window, and all that are idle at once: to find and delete them one by one takes longer than to count. */
function dropIdle(counter: Counter, now: number): void {
  const { rate, logs, since } = counter;
  const windows = (now - since) / (rate.windowSeconds * 1000);
  if (now < since) counter.since = now; // the clock was set back
  if (windows < 1) return;
  counter.before = windows < 2 ? logs : new Map();
  counter.logs = new Map();
  counter.since = now;
}
