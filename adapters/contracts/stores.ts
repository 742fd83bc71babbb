import type { AccountStore } from "../../application/ports/account-store.js";
import type { ApiKeyStore } from "../../application/ports/api-key-store.js";
import type { ApiRequests } from "../../application/ports/api-requests.js";
import type { Clock } from "../../application/ports/clock.js";
import type { DeliveryStore } from "../../application/ports/delivery-store.js";
import type { EndpointStore } from "../../application/ports/endpoint-store.js";
import type { EventStore } from "../../application/ports/event-store.js";
import type { LedgerStore } from "../../application/ports/ledger-store.js";
import type { OrderStore } from "../../application/ports/order-store.js";
import type { PasswordLinkStore } from "../../application/ports/password-link-store.js";
import type { ReferenceStore } from "../../application/ports/reference-store.js";
import type { SessionStore } from "../../application/ports/session-store.js";
import type { TaskStore } from "../../application/ports/task-store.js";

/** Every store on one empty database, which `close` deletes. */
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
  readonly tasks: TaskStore;
  /** Counts requests by this clock. */
  requestsAt(clock: Clock): ApiRequests;
  close(): Promise<void>;
};

/** The stores that the suites of tasks use. */
export type TaskStores = Pick<Stores, "accounts" | "keys" | "ledger" | "tasks" | "close">;
