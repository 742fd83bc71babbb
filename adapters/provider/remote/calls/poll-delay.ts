/** The shortest time between two looks at one generation, where the operator sets no other. */
export const POLL_MILLISECONDS = 2_400;

const YOUNG_MILLISECONDS = 60_000;
/** Only this instance may have found the provider silent: another one is to have its turn soon. */
const SILENCE_MILLISECONDS_MAX = 10_000;

type Situation = {
  readonly shortestMilliseconds: number;
  readonly sinceSubmissionMilliseconds: number;
  /** For so long the provider will be asked nothing. */
  readonly silentMilliseconds: number;
};

/**
 * Milliseconds until the next look at a generation: up to half as much again as the shortest time, so that looks spread;
 * five thirds of that once the generation is older than a minute; and not while the provider is asked nothing, or ten
 * seconds later at most, for thousands of tasks would go through the database in vain. `random` gives numbers from 0 to 1.
 */
export const nextPollMilliseconds = (
  { shortestMilliseconds, sinceSubmissionMilliseconds, silentMilliseconds }: Situation,
  random: () => number,
): number => {
  const young = sinceSubmissionMilliseconds <= YOUNG_MILLISECONDS;
  const shortest = young ? shortestMilliseconds : (shortestMilliseconds * 5) / 3;
  const silence = Math.min(silentMilliseconds, SILENCE_MILLISECONDS_MAX);
  return Math.round(Math.max(shortest, silence) + (shortest / 2) * random());
};
