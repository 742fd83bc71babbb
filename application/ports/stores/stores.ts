import type { Clock } from "../clock.js";
import type { Ids } from "../ids.js";
import type { Secrets } from "../secrets.js";
import type { AccountStore, ApiKeyStore, PasswordLinkStore, SessionStore } from "./account-stores.js";
import type { LedgerStore, OrderStore } from "./ledger-store.js";
import type { OperatorLog } from "./operator-log.js";
import type { OperatorStore } from "./operator-store.js";
import type { ApiRequests, RateLimits } from "./rate-limits.js";
import type { ReferenceStore } from "./reference-store.js";
import type { TaskAccess } from "./tasks/task-access.js";
import type { TaskLists } from "./tasks/task-lists.js";
import type { TaskQueue } from "./tasks/task-queue.js";
import type { TaskStore } from "./tasks/task-store.js";
import type { TaskWork } from "./tasks/task-work.js";
import type { DeliveryStore, EndpointStore, EventStore } from "./webhook-stores.js";

/** All task ports, for wiring. A use case lists only the methods that it calls. */
export type TaskPorts = TaskStore & TaskAccess & TaskQueue & TaskWork & TaskLists;

/** All stores. They share one database, and each method that writes is one transaction. */
export type Stores = {
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
  readonly tasks: TaskPorts;
  readonly operators: OperatorStore;
  readonly operatorLog: OperatorLog;
  readonly apiRequests: ApiRequests;
  readonly rateLimits: RateLimits;
};

/** Time, randomness and hashes. */
export type Basics = { readonly clock: Clock; readonly ids: Ids; readonly secrets: Secrets };

/** The stores, time, randomness and hashes. */
export type StorePorts = Stores & Basics;
