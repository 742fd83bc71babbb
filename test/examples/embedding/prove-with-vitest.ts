// The same suites with Vitest: its functions of the same names. Run it as one of your tests.
import type { HandClock } from "panorama-core/memory";
import { describeMeter, describeMeterStore } from "panorama-core/testing";
import { afterEach, beforeEach, describe, it } from "vitest";
import { meterStoreOfDocuments } from "./meter-store-of-documents.js";

const open = async (clock: HandClock) => ({
  store: meterStoreOfDocuments(() => clock.now()),
  close: async () => {},
});

const test = { describe, it, beforeEach, afterEach };
describeMeterStore(test, "of documents", open);
describeMeter(test, "on documents", open, { runs: 50 });
