import type { Clock } from "../ports/clock.js";

const PATIENCE_MILLISECONDS = 1_000;

/** Resolves when all of them have ended, or after a second: by then there may be more to begin, however slow the rest is. */
export const waitUpToASecond = async (running: ReadonlySet<Promise<void>>, clock: Clock): Promise<void> => {
  const ended = new AbortController();
  await Promise.race([Promise.all(running), clock.sleep(PATIENCE_MILLISECONDS, ended.signal)]);
  ended.abort();
};
