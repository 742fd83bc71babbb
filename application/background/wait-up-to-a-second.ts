import type { Clock } from "../ports/clock.js";

const WAIT_MILLISECONDS = 1_000;

/** Resolves when all promises have settled, or after one second, when more work may be due. */
export const waitUpToASecond = async (running: ReadonlySet<Promise<void>>, clock: Clock): Promise<void> => {
  const ended = new AbortController();
  await Promise.race([Promise.all(running), clock.sleep(WAIT_MILLISECONDS, ended.signal)]);
  ended.abort();
};
