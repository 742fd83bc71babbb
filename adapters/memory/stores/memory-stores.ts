import type { Clock } from "../../../application/ports/clock.js";
import type { ApiRequests } from "../../../application/ports/stores/rate-limits.js";
import type { PanoramaPolicy } from "../../../domain/panorama-policy.js";
import { MemoryAccountStore } from "./memory-account-store.js";
import { MemoryApiKeyStore } from "./memory-api-key-store.js";
import { MemoryApiRequests } from "./memory-api-requests.js";
import { MemoryDatabase } from "./memory-database.js";
import { MemoryDeliveryStore } from "./memory-delivery-store.js";
import { MemoryEndpointStore } from "./memory-endpoint-store.js";
import { MemoryEventStore } from "./memory-event-store.js";
import { MemoryLedgerStore } from "./memory-ledger-store.js";
import { MemoryOperatorLog } from "./memory-operator-log.js";
import { MemoryOperatorStore } from "./memory-operator-store.js";
import { MemoryOrderStore } from "./memory-order-store.js";
import { MemoryPasswordLinkStore } from "./memory-password-link-store.js";
import { MemoryRateLimits } from "./memory-rate-limits.js";
import { MemoryReferenceStore } from "./memory-reference-store.js";
import { MemorySessionStore } from "./memory-session-store.js";
import { memoryTasks } from "./tasks/memory-tasks.js";

/** Every store, on one in-memory database. `clock`: the one that the use cases have. */
export const memoryStores = (database = new MemoryDatabase(), clock?: Pick<Clock, "now">) => ({
  accounts: new MemoryAccountStore(database),
  orders: new MemoryOrderStore(database),
  keys: new MemoryApiKeyStore(database),
  ledger: new MemoryLedgerStore(database),
  sessions: new MemorySessionStore(database),
  links: new MemoryPasswordLinkStore(database),
  endpoints: new MemoryEndpointStore(database),
  deliveries: new MemoryDeliveryStore(database),
  events: new MemoryEventStore(database),
  references: new MemoryReferenceStore(database),
  tasks: memoryTasks(database, clock),
  operators: new MemoryOperatorStore(database),
  operatorLog: new MemoryOperatorLog(database),
  requestsAt: (clock: Clock, rates: PanoramaPolicy["rates"]): ApiRequests =>
    new MemoryApiRequests(database, new MemoryRateLimits(clock, rates), clock),
});
