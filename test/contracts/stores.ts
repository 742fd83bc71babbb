import type { Clock } from "../../application/ports/clock.js";
import type { ApiRequests } from "../../application/ports/stores/rate-limits.js";
import type { Stores as ApplicationStores } from "../../application/ports/stores/stores.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";

/** Every store on one empty database, which `close` deletes. Those of operators have suites of their own. */
export type Stores = Omit<ApplicationStores, "operators" | "operatorLog" | "apiRequests" | "rateLimits"> & {
  /** Counts requests by this clock and these limits. */
  requestsAt(clock: Clock, rates: PanoramaPolicy["rates"]): ApiRequests;
  close(): Promise<void>;
};
