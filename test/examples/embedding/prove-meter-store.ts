// A meter's store of one's own, proven with the contract suites: `node --test prove-meter-store.js`.
import { afterEach, beforeEach, describe, it } from "node:test";
import type { HandClock } from "panorama-core/memory";
import { describeMeter, describeMeterStore } from "panorama-core/testing";
import { meterStoreOfDocuments } from "./meter-store-of-documents.js";

const open = async (clock: HandClock) => ({
  store: meterStoreOfDocuments(() => clock.now()),
  close: async () => {},
});

const test = { describe, it, beforeEach, afterEach };
describeMeterStore(test, "of documents", open); // what every store must do
describeMeter(test, "on documents", open, { runs: 50 }); // the meter on it, in 50 random sequences of calls
