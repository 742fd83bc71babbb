import type { Clock } from "../../../application/ports/clock.js";
import type { PageCost } from "../../web-page/page.js";

/** Kinds of requests that are counted for each network. `key`: requests with an unknown API key. */
export type VisitorRequest = PageCost | "form" | "key";

/**
 * Requests of one network in a minute. Many people share a network, and a page of the gallery loads 24 pictures. So
 * these limits are far above what people need, and far below what a process can handle. Each one divides a minute in
 * milliseconds without remainder.
 */
export const VISITOR_LIMITS: Readonly<Record<VisitorRequest, number>> = {
  search: 240,
  picture: 2_000,
  page: 600,
  form: 240,
  key: 600,
};

const MINUTE = 60_000;

/** Maximum number of networks per kind. The least recently seen ones are forgotten. */
const NETWORKS_MAX = 20_000;

/**
 * Limits visitors by their network (client-address.ts) before anything is read for them. Each process counts for
 * itself: the limits protect the process, and a count in the database would cost more than most of these requests.
 * Password limits protect accounts, so the database counts them (application/accounts/check-credentials.ts).
 *
 * A network may use its whole limit at once, and then the same rate evenly. One number is stored per network: the time
 * at which its whole limit is available again.
 */
export class VisitorLimits {
  private readonly clock: Pick<Clock, "now">;
  private readonly counters: Readonly<Record<VisitorRequest, Map<string, number>>> = {
    search: new Map(),
    picture: new Map(),
    page: new Map(),
    form: new Map(),
    key: new Map(),
  };

  constructor(clock: Pick<Clock, "now">) {
    this.clock = clock;
  }

  /** Counts the request. Returns the seconds to wait if the limit is reached. */
  count(kind: VisitorRequest, network: string): number | undefined {
    const freeAt = this.counters[kind];
    const now = this.clock.now().getTime();
    const step = MINUTE / VISITOR_LIMITS[kind];
    const known = freeAt.get(network) ?? 0;
    // A time that is more than a minute ahead was stored before the clock was set back.
    const next = (known > now + MINUTE ? now : Math.max(known, now)) + step;
    if (next > now + MINUTE) return Math.max(1, Math.ceil((next - now - MINUTE) / 1_000));
    freeAt.delete(network); // to the end of the map
    freeAt.set(network, next);
    for (const [oldest, at] of freeAt) {
      if (at > now && freeAt.size <= NETWORKS_MAX) break;
      freeAt.delete(oldest);
    }
    return undefined;
  }

  /** True if another request of this kind would be refused. */
  isUsedUp(kind: VisitorRequest, network: () => string): boolean {
    if (this.counters[kind].size === 0) return false; // nearly always
    const now = this.clock.now().getTime();
    const known = this.counters[kind].get(network()) ?? 0;
    return known <= now + MINUTE && known + MINUTE / VISITOR_LIMITS[kind] > now + MINUTE;
  }

  /** Number of remembered networks. */
  get size(): number {
    return Object.values(this.counters).reduce((sum, { size }) => sum + size, 0);
  }
}
