import type { Installation } from "../support/service-process.js";
import type { AnyDatabase } from "../support/sql-stores.js";
import type { Contest } from "./compare.js";

/** An installation of the service that is not started yet, and what is compared there. */
export type Arena = {
  readonly service: Installation;
  /** Called before the start, when the database has accounts, keys and tasks (bench/throughput/data.ts). */
  readonly prepare?: (database: AnyDatabase) => Promise<void>;
  readonly contests: readonly Contest[];
  /** Ends what belongs to it, except the service. */
  readonly close: () => Promise<void>;
};

export type OpenArena = (environment: Record<string, string>) => Promise<Arena>;
