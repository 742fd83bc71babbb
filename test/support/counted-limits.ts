import type { Clock } from "../../application/ports/clock.js";
import type { RateLimitedParty, RateLimits } from "../../application/ports/rate-limits.js";
import { RATE_LIMITS, type RequestKind } from "../../domain/panorama-policy.js";
import { admitRequest } from "../../domain/rate-limit.js";

/** The domain's limits, counted in a map. */
export class CountedLimits implements RateLimits {
  private readonly logs = new Map<string, readonly number[]>();
  private readonly clock: Pick<Clock, "now">;

  constructor(clock: Pick<Clock, "now">) {
    this.clock = clock;
  }

  async admit(party: RateLimitedParty, kind: RequestKind) {
    const counter = `${kind} ${party}`;
    const now = this.clock.now().getTime();
    return admitRequest(this.logs.get(counter) ?? [], RATE_LIMITS[kind], now).map((admission) => {
      this.logs.set(counter, admission.log);
      return admission;
    });
  }
}
