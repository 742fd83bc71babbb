import { MemoryRateLimits } from "../../adapters/memory/memory-rate-limits.js";
import { PostgresApiRequests } from "../../adapters/persistence/postgres-api-requests.js";
import type { PostgresDatabase } from "../../adapters/persistence/postgres-database.js";
import { SqlAccountStore } from "../../adapters/persistence/sql-account-store.js";
import { SqlApiKeyStore } from "../../adapters/persistence/sql-api-key-store.js";
import { SqlDeliveryStore } from "../../adapters/persistence/sql-delivery-store.js";
import { SqlEndpointStore } from "../../adapters/persistence/sql-endpoint-store.js";
import { SqlEventStore } from "../../adapters/persistence/sql-event-store.js";
import { SqlLedgerStore } from "../../adapters/persistence/sql-ledger-store.js";
import { SqlOrderStore } from "../../adapters/persistence/sql-order-store.js";
import { SqlPasswordLinkStore } from "../../adapters/persistence/sql-password-link-store.js";
import { SqlReferenceStore } from "../../adapters/persistence/sql-reference-store.js";
import { SqlSessionStore } from "../../adapters/persistence/sql-session-store.js";
import { SqlTaskStore } from "../../adapters/persistence/sql-task-store.js";
import { SqliteApiRequests } from "../../adapters/persistence/sqlite-api-requests.js";
import type { SqliteDatabase } from "../../adapters/persistence/sqlite-database.js";
import type { ApiRequests } from "../../application/ports/api-requests.js";
import type { Clock } from "../../application/ports/clock.js";
import type { Reporter } from "../../application/ports/reporter.js";
import { RATE_LIMITS } from "../../domain/panorama-policy.js";

export type AnyDatabase = SqliteDatabase | PostgresDatabase;

/** Every store, on one SQLite or PostgreSQL database. */
export const sqlStores = (database: AnyDatabase, reporter?: Reporter) => ({
  accounts: new SqlAccountStore(database),
  orders: new SqlOrderStore(database),
  keys: new SqlApiKeyStore(database),
  ledger: new SqlLedgerStore(database),
  sessions: new SqlSessionStore(database),
  links: new SqlPasswordLinkStore(database),
  requestsAt: (clock: Clock): ApiRequests =>
    database.dialect === "postgresql"
      ? new PostgresApiRequests(database, clock, RATE_LIMITS)
      : new SqliteApiRequests(database, new MemoryRateLimits(clock, RATE_LIMITS), clock),
  endpoints: new SqlEndpointStore(database),
  deliveries: new SqlDeliveryStore(database, reporter),
  events: new SqlEventStore(database, reporter),
  references: new SqlReferenceStore(database),
  tasks: new SqlTaskStore(database, reporter),
});
