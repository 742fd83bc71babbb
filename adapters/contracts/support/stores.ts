import type { Stores } from "../../../application/ports/stores/stores.js";

/** The stores that the suites of tasks use, on one empty database, which `close` deletes. */
export type TaskStores = Pick<Stores, "accounts" | "keys" | "ledger" | "tasks"> & { close(): Promise<void> };
