import type { Clock } from "../../application/ports/clock.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type { EmailOutbox } from "../../application/ports/stores/email-outbox.js";
import type { Stores } from "../../application/ports/stores/stores.js";
import type { PaidOrder } from "../../domain/credits/order.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { SqlAccountStore } from "./accounts/sql-account-store.js";
import { SqlApiKeyStore } from "./accounts/sql-api-key-store.js";
import { SqlEmailOutbox } from "./accounts/sql-email-outbox.js";
import { SqlOperatorLog } from "./accounts/sql-operator-log.js";
import { SqlOperatorStore } from "./accounts/sql-operator-store.js";
import { SqlPasswordLinkStore } from "./accounts/sql-password-link-store.js";
import { SqlSessionStore } from "./accounts/sql-session-store.js";
import { SqlLedgerStore } from "./credits/sql-ledger-store.js";
import { SqlOrderStore } from "./credits/sql-order-store.js";
import { prepareEntities } from "./database/orm/entities.js";
import type { AnyDatabase } from "./database/sql/database.js";
import { MemoryRateLimits } from "./limits/memory-rate-limits.js";
import { PostgresApiRequests } from "./limits/postgres-api-requests.js";
import { PostgresRateLimits } from "./limits/postgres-rate-limits.js";
import { SqliteApiRequests } from "./limits/sqlite-api-requests.js";
import { SqlReferenceStore } from "./references/sql-reference-store.js";
import type { TaskObserver } from "./tasks/sql-task-context.js";
import { sqlTasks } from "./tasks/sql-tasks.js";
import { SqlDeliveryStore } from "./webhooks/sql-delivery-store.js";
import { SqlEndpointStore } from "./webhooks/sql-endpoint-store.js";
import { SqlEventStore } from "./webhooks/sql-event-store.js";

/** Stores that count requests. */
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
};

/** Every store on one database with the tables `panoramas`. */
export const sqlStores = (database: AnyDatabase, { reporter, clock, tasks, paid }: StoreObservers = {}): SqlStores => {
  prepareEntities(database.dialect);
  return {
    accounts: new SqlAccountStore(database),
    orders: new SqlOrderStore(database, paid),
    keys: new SqlApiKeyStore(database),
    ledger: new SqlLedgerStore(database),
    sessions: new SqlSessionStore(database),
    links: new SqlPasswordLinkStore(database),
    endpoints: new SqlEndpointStore(database),
    deliveries: new SqlDeliveryStore(database, reporter),
    events: new SqlEventStore(database, reporter),
    references: new SqlReferenceStore(database),
    tasks: sqlTasks(database, { reporter, clock, observer: tasks }),
    operators: new SqlOperatorStore(database),
    operatorLog: new SqlOperatorLog(database),
    emailOutbox: new SqlEmailOutbox(database),
    countersAt: (clock, rates) => {
      if (database.dialect === "postgresql") {
        const rateLimits = new PostgresRateLimits(database, clock, rates);
        return { apiRequests: new PostgresApiRequests(database, clock, rates), rateLimits };
      }
      const rateLimits = new MemoryRateLimits(clock, rates);
      return { apiRequests: new SqliteApiRequests(database, rateLimits, clock), rateLimits };
    },
  };
};
