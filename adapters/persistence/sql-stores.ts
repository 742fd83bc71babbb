import type { ApiRequests } from "../../application/ports/api-requests.js";
import type { Clock } from "../../application/ports/clock.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type { Stores } from "../../application/store-use-cases.js";
import { type PanoramaPolicy, RATE_LIMITS } from "../../domain/panorama-policy.js";
import { MemoryRateLimits } from "../memory/memory-rate-limits.js";
import type { AnyDatabase } from "./database.js";
import { PostgresApiRequests } from "./postgres-api-requests.js";
import { SqlAccountStore } from "./sql-account-store.js";
import { SqlApiKeyStore } from "./sql-api-key-store.js";
import { SqlDeliveryStore } from "./sql-delivery-store.js";
import { SqlEndpointStore } from "./sql-endpoint-store.js";
import { SqlEventStore } from "./sql-event-store.js";
import { SqlLedgerStore } from "./sql-ledger-store.js";
import { SqlOperatorLog } from "./sql-operator-log.js";
import { SqlOperatorStore } from "./sql-operator-store.js";
import { SqlOrderStore } from "./sql-order-store.js";
import { SqlPasswordLinkStore } from "./sql-password-link-store.js";
import { SqlReferenceStore } from "./sql-reference-store.js";
import { SqlRetentionStore } from "./sql-retention-store.js";
import { SqlSessionStore } from "./sql-session-store.js";
import { SqlTaskStore } from "./sql-task-store.js";
import { SqliteApiRequests } from "./sqlite-api-requests.js";

/** Every store of panoramas, as `memoryStores` has them. */
export interface SqlStores extends Omit<Stores, "apiRequests" | "rateLimits"> {
  /**
   * Counts requests by this clock: on PostgreSQL in the database, for all processes together; on SQLite in this process,
   * so that one process should serve the requests. `rates`: by default those of the specification.
   */
  requestsAt(clock: Clock, rates?: PanoramaPolicy["rates"]): ApiRequests;
}

/**
 * Every store on one database with the tables `panoramas`. `reporter` receives rows that this version cannot read, such as
 * those of a newer one. `clock`: the one that the use cases have.
 */
export const sqlStores = (
  database: AnyDatabase,
  reporter?: Pick<Reporter, "report">,
  clock?: Pick<Clock, "now">,
): SqlStores => ({
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
  tasks: new SqlTaskStore(database, reporter, undefined, clock),
  retentions: new SqlRetentionStore(database),
  operators: new SqlOperatorStore(database),
  operatorLog: new SqlOperatorLog(database),
  requestsAt: (clock, rates = RATE_LIMITS) =>
    database.dialect === "postgresql"
      ? new PostgresApiRequests(database, clock, rates)
      : new SqliteApiRequests(database, new MemoryRateLimits(clock, rates), clock),
});
