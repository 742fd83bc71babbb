import type { ApiRequests } from "../../application/ports/api-requests.js";
import type { Clock } from "../../application/ports/clock.js";
import type { Stores as ApplicationStores } from "../../application/store-use-cases.js";

/** Every store on one empty database, which `close` deletes. Those of operators have suites of their own. */
export type Stores = Omit<ApplicationStores, "operators" | "operatorLog" | "apiRequests" | "rateLimits"> & {
  /** Counts requests by this clock. */
  requestsAt(clock: Clock): ApiRequests;
  close(): Promise<void>;
};

/** The stores that the suites of tasks use. */
export type TaskStores = Pick<Stores, "accounts" | "keys" | "ledger" | "tasks" | "close">;
