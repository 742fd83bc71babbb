/** The shortest time between two polls of one generation, if the operator does not set another. */
export const POLL_MILLISECONDS = 2_400;

const YOUNG_MILLISECONDS = 60_000;
/** Not longer, because perhaps only this instance cannot reach the provider: another one should get the task soon. */
const BLOCKED_MILLISECONDS_MAX = 10_000;

type Situation = {
  readonly shortestMilliseconds: number;
  readonly sinceSubmissionMilliseconds: number;
  /** How long no call is sent to the provider. */
  readonly blockedMilliseconds: number;
};

/** No poll is later than this. */
export const longestPollMilliseconds = (shortestMilliseconds: number): number => {
  const situation = { shortestMilliseconds, sinceSubmissionMilliseconds: Infinity, blockedMilliseconds: Infinity };
  return nextPollMilliseconds(situation, () => 1);
};

/**
 * Milliseconds until the next poll of a generation: a random time of 1 to 1.5 times the shortest time, so that polls
 * spread; five thirds of that for a generation older than a minute. While no call is sent to the provider, polls are
 * postponed by at most 10 seconds: otherwise the database would read thousands of tasks that cannot be polled. `random`
 * returns numbers from 0 to 1.
 */
export const nextPollMilliseconds = (
  { shortestMilliseconds, sinceSubmissionMilliseconds, blockedMilliseconds }: Situation,
  random: () => number,
): number => {
  const young = sinceSubmissionMilliseconds <= YOUNG_MILLISECONDS;
  const shortest = young ? shortestMilliseconds : (shortestMilliseconds * 5) / 3;
  const blocked = Math.min(blockedMilliseconds, BLOCKED_MILLISECONDS_MAX);
  return Math.round(Math.max(shortest, blocked) + (shortest / 2) * random());
};
