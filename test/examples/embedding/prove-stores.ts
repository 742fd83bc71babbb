// The contract suites of all stores, here with the memory stores: pass your own stores instead.
import { afterEach, beforeEach, describe, it } from "node:test";
import { memoryStores } from "panorama-core/memory";
import { describeConcurrentUploads, describeStores, describeTaskQueue } from "panorama-testing";

const test = { describe, it, beforeEach, afterEach };
const open = async () => ({ ...memoryStores(), close: async () => {} });
describeStores(test, "in memory", open);
describeTaskQueue(test, "in memory", open); // only for a provider that cannot run all tasks at once
describeConcurrentUploads(test, "in memory", open); // several instances on one database
