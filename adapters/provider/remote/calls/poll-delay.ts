/** The shortest time between two polls of one generation, if the operator does not set another. */
export const POLL_MILLISECONDS = 2_400;

const YOUNG_MILLISECONDS = 60_000;
/** Perhaps only this instance cannot reach the provider: another one should get the task soon. */
const SILENCE_MILLISECONDS_MAX = 10_000;

type Situation = {
  readonly shortestMilliseconds: number;
  readonly sinceSubmissionMilliseconds: number;
  /** For how long no call is sent to the provider. */
  readonly silentMilliseconds: number;
};

/**
 * Milliseconds until the next poll of a generation: 1 to 1.5 times the shortest time, so that polls spread; five thirds
 * of that for a generation older than a minute. While no call is sent to the provider the poll is put off, by at most
 * 10 seconds, because otherwise thousands of tasks would be read from the database in vain. `random` returns numbers
 * from 0 to 1.
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
