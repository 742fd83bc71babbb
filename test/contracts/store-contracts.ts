import { afterEach, beforeEach, describe, it } from "vitest";
import { describeTaskStore } from "../../adapters/contracts/tasks/task-store-contract.js";
import { describeAccountStore } from "./accounts/account-store-contract.js";
import { describeApiKeyStore } from "./accounts/api-key-store-contract.js";
import { describeApiRequests } from "./accounts/api-requests-contract.js";
import { describePasswordLinkStore } from "./accounts/password-link-store-contract.js";
import { describeSessionStore } from "./accounts/session-store-contract.js";
import { describeDeliveryStore } from "./deliveries/delivery-store-contract.js";
import { describeEndpointStore } from "./endpoint-store-contract.js";
import { describeEventStore } from "./event-store-contract.js";
import { describeLedgerStore } from "./ledger-store-contract.js";
import { describeOrderStore } from "./order-store-contract.js";
import { describeReferenceStore } from "./reference-store-contract.js";
import type { Stores } from "./stores.js";

/**
 * Runs the contract suite of every store. `technology` completes the suites' names, such as `on SQLite`. There are
 * separate suites for the queue (task-queue-contract.ts), which only a provider with limits needs, uploads and
 * deletions of several instances (concurrent-uploads-contract.ts), what operators ask for and their log
 * (operator-store-contract.ts), what they read and decide about one task (task-record-contract.ts), and a
 * meter's store (meter-store-contract.ts).
 */
export const describeStores = (technology: string, makeStores: () => Promise<Stores>): void => {
  describeTaskStore({ describe, it, beforeEach, afterEach }, technology, makeStores);
  describeAccountStore(technology, makeStores);
  describeOrderStore(technology, makeStores);
  describeApiKeyStore(technology, makeStores);
  describeApiRequests(technology, makeStores);
  describeLedgerStore(technology, makeStores);
  describeSessionStore(technology, makeStores);
  describePasswordLinkStore(technology, makeStores);
  describeEndpointStore(technology, makeStores);
  describeDeliveryStore(technology, makeStores);
  describeEventStore(technology, makeStores);
  describeReferenceStore(technology, makeStores);
};
