import type { Result } from "neverthrow";
import type { Clock } from "../../../../application/ports/clock.js";
import type { ProviderUnavailable } from "../../../../application/ports/generation-provider.js";

/** Before each further look: five seconds together, because a customer waits for the answer. */
const PAUSES_MILLISECONDS = [250, 500, 1_000, 1_250, 2_000];

/** Reads a state until it is final for a cancellation, or the time is over. Resolves to the last one. */
export const confirmStop = async <T>(
  clock: Pick<Clock, "sleep">,
  read: () => Promise<Result<T, ProviderUnavailable>>,
  mayStillStop: (state: T) => boolean,
): Promise<Result<T, ProviderUnavailable>> => {
  let state = await read();
  for (const milliseconds of PAUSES_MILLISECONDS) {
    if (state.isErr() || !mayStillStop(state.value)) break;
    await clock.sleep(milliseconds);
    state = await read();
  }
  return state;
};
