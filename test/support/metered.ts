import { HandClock } from "../../adapters/memory/hand-clock.js";
import { memoryMeterStore } from "../../adapters/memory/memory-meter-store.js";

/** A meter's store in memory, with the time of a clock that is set by hand. */
export const meterStoreInMemory = async (clock: HandClock = new HandClock()) => ({
  clock,
  store: memoryMeterStore({ now: () => clock.now() }),
  close: async () => {},
});
