// The contract suites of the store of tasks, here with the memory stores: pass your own stores instead.
import { afterEach, beforeEach, describe, it } from "node:test";
import { memoryStores } from "panorama-core/memory";
import { describeTaskQueue, describeTaskStore } from "panorama-core/testing";

const test = { describe, it, beforeEach, afterEach };
const open = async () => ({ ...memoryStores(), close: async () => {} });
describeTaskStore(test, "in memory", open);
describeTaskQueue(test, "in memory", open); // only for a provider that cannot run all tasks at once
