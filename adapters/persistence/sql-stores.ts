import type { AccountStore } from "../../application/ports/account-store.js";
import type { ApiKeyStore } from "../../application/ports/api-key-store.js";
import type { ApiRequests } from "../../application/ports/api-requests.js";
import type { Clock } from "../../application/ports/clock.js";
import type { DeliveryStore } from "../../application/ports/delivery-store.js";
import type { EndpointStore } from "../../application/ports/endpoint-store.js";
import type { EventStore } from "../../application/ports/event-store.js";
import type { LedgerStore } from "../../application/ports/ledger-store.js";
import type { OperatorLog } from "../../application/ports/operator-log.js";
import type { OperatorStore } from "../../application/ports/operator-store.js";
import type { OrderStore } from "../../application/ports/order-store.js";
import type { PasswordLinkStore } from "../../application/ports/password-link-store.js";
import type { ReferenceStore } from "../../application/ports/reference-store.js";
import type { Reporter } from "../../application/ports/reporter.js";
import type { SessionStore } from "../../application/ports/session-store.js";
import type { TaskStore } from "../../application/ports/task-store.js";
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
import { SqlSessionStore } from "./sql-session-store.js";
import { SqlTaskStore } from "./sql-task-store.js";
import { SqliteApiRequests } from "./sqlite-api-requests.js";

/** Every store of panoramas, as `memoryStores` has them. */
export interface SqlStores {
  readonly accounts: AccountStore;
  readonly orders: OrderStore;
  readonly keys: ApiKeyStore;
  readonly ledger: LedgerStore;
  readonly sessions: SessionStore;
  readonly links: PasswordLinkStore;
  readonly endpoints: EndpointStore;
  readonly deliveries: DeliveryStore;
  readonly events: EventStore;
  readonly references: ReferenceStore;
  readonly tasks: TaskStore;
  readonly operators: OperatorStore;
  readonly operatorLog: OperatorLog;
  /**
   * Counts requests by this clock: on PostgreSQL in the database, for all processes together; on SQLite in this process,
   * so that one process should serve the requests. `rates`: by default those of the specification.
   */
  requestsAt(clock: Clock, rates?: PanoramaPolicy["rates"]): ApiRequests;
}

/**
 * Every store on one database with the tables `panoramas`. `reporter` receives rows that this version cannot read, such as
 * those of a newer one.
 */
export const sqlStores = (database: AnyDatabase, reporter?: Pick<Reporter, "report">): SqlStores => ({
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
  tasks: new SqlTaskStore(database, reporter),
  operators: new SqlOperatorStore(database),
  operatorLog: new SqlOperatorLog(database),
  requestsAt: (clock, rates = RATE_LIMITS) =>
    database.dialect === "postgresql"
      ? new PostgresApiRequests(database, clock, rates)
      : new SqliteApiRequests(database, new MemoryRateLimits(clock, rates), clock),
});
