import type { Clock } from "../../application/ports/clock.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type { ApiRequests } from "../../application/ports/stores/rate-limits.js";
import type { Stores } from "../../application/ports/stores/stores.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { prepareEntities } from "./orm/entities.js";
import { PostgresApiRequests } from "./prepared/postgres-api-requests.js";
import { SqlEventStore } from "./prepared/sql-event-store.js";
import { SqlLedgerStore } from "./prepared/sql-ledger-store.js";
import { SqliteApiRequests } from "./prepared/sqlite-api-requests.js";
import { sqlTasks } from "./prepared/tasks/sql-tasks.js";
import type { AnyDatabase } from "./sql/database.js";
import { SqlAccountStore } from "./stores/accounts/sql-account-store.js";
import { SqlApiKeyStore } from "./stores/accounts/sql-api-key-store.js";
import { SqlPasswordLinkStore } from "./stores/accounts/sql-password-link-store.js";
import { SqlSessionStore } from "./stores/accounts/sql-session-store.js";
import { MemoryRateLimits } from "./stores/memory-rate-limits.js";
import { SqlDeliveryStore } from "./stores/sql-delivery-store.js";
import { SqlEndpointStore } from "./stores/sql-endpoint-store.js";
import { SqlOperatorLog } from "./stores/sql-operator-log.js";
import { SqlOperatorStore } from "./stores/sql-operator-store.js";
import { SqlOrderStore } from "./stores/sql-order-store.js";
import { SqlReferenceStore } from "./stores/sql-reference-store.js";

/** Every store of panoramas. */
export interface SqlStores extends Omit<Stores, "apiRequests" | "rateLimits"> {
  /**
   * Counts requests by this clock: on PostgreSQL in the database, for all processes together; on SQLite in this
   * process, so that one process should serve the requests. `rates`: by default those of the specification.
   */
  requestsAt(clock: Clock, rates: PanoramaPolicy["rates"]): ApiRequests;
}

/**
 * Every store on one database with the tables `panoramas`. `reporter` receives rows that this version cannot read, such
 * as those of a newer one. `clock`: the one that the use cases have.
 */
export const sqlStores = (
  database: AnyDatabase,
  reporter?: Pick<Reporter, "report">,
  clock?: Pick<Clock, "now">,
): SqlStores => {
  prepareEntities(database.dialect);
  return {
    accounts: new SqlAccountStore(database),
    orders: new SqlOrderStore(database),
    keys: new SqlApiKeyStore(database),
    ledger: new SqlLedgerStore(database),
    sessions: new SqlSessionStore(database),
    links: new SqlPasswordLinkStore(database),
    endpoints: new SqlEndpointStore(database),
    deliveries: new SqlDeliveryStore(database, reporter),
    events: new SqlEventStore(database, reporter),
    references: new SqlReferenceStore(database),
    tasks: sqlTasks(database, { reporter, clock }),
    operators: new SqlOperatorStore(database),
    operatorLog: new SqlOperatorLog(database),
    requestsAt: (clock, rates) =>
      database.dialect === "postgresql"
        ? new PostgresApiRequests(database, clock, rates)
        : new SqliteApiRequests(database, new MemoryRateLimits(clock, rates), clock),
  };
};
