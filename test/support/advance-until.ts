import type { HandClock } from "../../adapters/memory/hand-clock.js";

/** Advances the clock until the work has ended. New pauses may begin while real answers arrive. */
export const advanceUntil = async (clock: HandClock, work: Promise<unknown>): Promise<void> => {
  let ended = false;
  void work.finally(() => {
    ended = true;
  });
  while (!ended) await clock.advance(1_000);
};
