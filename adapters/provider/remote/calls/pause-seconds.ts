import { retryAfterMilliseconds } from "../../../system/retry-after.js";
import type { Answer } from "./upstream-http.js";

/** Some providers answer 0 although the next call has to wait. */
const PAUSE_SECONDS_MIN = 1;
const PAUSE_SECONDS_MAX = 60;

/** How long calls must pause: 1 to 60 seconds after a 429, or a 503 with `Retry-After`; otherwise `undefined`. */
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
