import type { Clock } from "../../application/ports/clock.js";
import type { Stores as ApplicationStores } from "../../application/ports/stores/stores.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";

/** Every store on one empty database, which `close` deletes. Those of operators have suites of their own. */
export type Stores = Omit<ApplicationStores, "operators" | "operatorLog" | "apiRequests" | "rateLimits"> & {
  /** Counts requests by this clock and these limits. */
  countersAt(clock: Clock, rates: PanoramaPolicy["rates"]): Pick<ApplicationStores, "apiRequests">;
  close(): Promise<void>;
};
