import { retryAfterMilliseconds } from "../../../system/outgoing-http.js";
import type { Answer } from "./upstream-call.js";

/** The shortest time between two polls of one generation, if the operator does not set another. */
export const POLL_MILLISECONDS = 2_400;

const YOUNG_MILLISECONDS = 60_000;
/** Not longer, because perhaps only this instance cannot reach the provider: another one should get the task soon. */
const BLOCKED_MILLISECONDS_MAX = 10_000;

type Situation = {
  readonly shortestMilliseconds: number;
  readonly sinceSubmissionMilliseconds: number;
  /** Time until calls are sent to the provider again. */
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

/** Some providers answer 0 although the next call has to wait. */
const PAUSE_SECONDS_MIN = 1;
const PAUSE_SECONDS_MAX = 60;

/** Pause before the next call: 1 to 60 seconds after a 429, or a 503 with `Retry-After`. Otherwise `undefined`. */
export const pauseSeconds = (answer: Answer, now: Date, defaultSeconds: number): number | undefined =>
  askedPauseSeconds(answer, now) ?? (answer.status === 429 ? defaultSeconds : undefined);

/** The same, if the answer says how long; otherwise `undefined`. */
export const askedPauseSeconds = ({ status, retryAfter, body }: Answer, now: Date): number | undefined => {
  const told = retryAfterMilliseconds(retryAfter, now);
  const fromHeader = told && told / 1000;
  const seconds = status === 429 ? (fromHeader ?? secondsIn(body)) : status === 503 ? fromHeader : undefined;
  return seconds === undefined ? undefined : Math.min(Math.max(seconds, PAUSE_SECONDS_MIN), PAUSE_SECONDS_MAX);
};

/** Replicate writes it in the body: "Your rate limit resets in ~30s." */
const secondsIn = (body: unknown): number | undefined => {
  const seconds = /resets in ~?(\d+)s/.exec(JSON.stringify(body) ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds);
};
