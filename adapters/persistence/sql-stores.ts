import type { Clock } from "../../application/ports/clock.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type { EmailOutbox } from "../../application/ports/stores/email-outbox.js";
import type { Stores } from "../../application/ports/stores/stores.js";
import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import type { PaidOrder } from "../../domain/credits/order.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import type { Endpoint } from "../../domain/webhooks/webhook-endpoint.js";
import { deleteOldActions } from "./accounts/old-actions.js";
import { SqlOperatorStore } from "./accounts/sql-operator-store.js";
import { accountReads, sessionReads } from "./accounts/visitor-rows.js";
import { SqlLedgerStore } from "./credits/sql-ledger-store.js";
import { SqlOrderStore } from "./credits/sql-order-store.js";
import type { AnyDatabase } from "./database/sql/database.js";
import { recordKeyUses } from "./limits/key-uses.js";
import { MemoryRateLimits } from "./limits/memory-rate-limits.js";
import { PostgresApiRequests } from "./limits/postgres-api-requests.js";
import { PostgresRateLimits } from "./limits/postgres-rate-limits.js";
import { SqliteApiRequests } from "./limits/sqlite-api-requests.js";
import { type EntityStores, loadLater } from "./load-later.js";
import { SqlReferenceStore } from "./references/sql-reference-store.js";
import type { TaskObserver } from "./tasks/sql-task-context.js";
import { sqlTasks } from "./tasks/sql-tasks.js";
import { writeDefaultEndpoint } from "./webhooks/default-endpoint.js";
import { SqlDeliveryStore } from "./webhooks/sql-delivery-store.js";
import { SqlEventStore } from "./webhooks/sql-event-store.js";

type Counters = Pick<Stores, "apiRequests" | "rateLimits">;

/** Every store of panoramas. */
export interface SqlStores extends Omit<Stores, keyof Counters> {
  readonly emailOutbox: EmailOutbox;
  /**
   * Counts requests by this clock: on PostgreSQL in the database, for all processes together; on SQLite in this
   * process, so that one process should serve the requests. `rates`: by default those of the specification.
   */
  countersAt(clock: Clock, rates: PanoramaPolicy["rates"]): Counters;
}

/** Observers of the stores: called with what the stores find and commit. */
export type StoreObservers = {
  /** Receives rows that this version cannot read, such as rows of a newer version. */
  readonly reporter?: Pick<Reporter, "report"> | undefined;
  /** The clock that the use cases have. */
  readonly clock?: Pick<Clock, "now"> | undefined;
  readonly tasks?: TaskObserver | undefined;
  readonly paid?: ((order: PaidOrder) => void) | undefined;
  /** The stores of entities, if they are loaded already. */
  readonly entities?: EntityStores | undefined;
};

/** Every store on one database with the tables `panoramas`. */
export function sqlStores(
  database: AnyDatabase,
  { reporter, clock, tasks, paid, entities: loaded }: StoreObservers = {},
): SqlStores {
  let entities = loaded;
  const load = async () => {
    if (entities !== undefined) return entities;
    const { entityStores } = await import("./entity-stores.js"); // again with the next call, if it fails
    entities ??= entityStores(database);
    return entities;
  };
  return {
    accounts: loadLater(load, "accounts", accountReads(database)),
    orders: new SqlOrderStore(database, paid),
    keys: loadLater(load, "keys", {
      recordUses: (uses: ReadonlyMap<ApiKeyId, Date>) => recordKeyUses(database, uses),
    }),
    ledger: new SqlLedgerStore(database),
    sessions: loadLater(load, "sessions", sessionReads(database)),
    links: loadLater(load, "links"),
    endpoints: loadLater(load, "endpoints", {
      ensureDefault: (candidate: Endpoint) => writeDefaultEndpoint(database, candidate),
    }),
    deliveries: new SqlDeliveryStore(database, reporter),
    events: new SqlEventStore(database, reporter),
    references: new SqlReferenceStore(database),
    tasks: sqlTasks(database, { reporter, clock, observer: tasks }),
    operators: new SqlOperatorStore(database),
    operatorLog: loadLater(load, "operatorLog", {
      deleteBefore: (at: Date, limit: number) => deleteOldActions(database, at, limit),
    }),
    emailOutbox: loadLater(load, "emailOutbox"),
    countersAt: (clock, rates) => {
      if (database.dialect === "postgresql") {
        const rateLimits = new PostgresRateLimits(database, clock, rates);
        return { apiRequests: new PostgresApiRequests(database, clock, rates), rateLimits };
      }
      const rateLimits = new MemoryRateLimits(clock, rates);
      return { apiRequests: new SqliteApiRequests(database, rateLimits, clock), rateLimits };
    },
  };
}
