const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;

/** Pauses after failed attempts to send a letter: a mail server that is away for a day loses none. */
const PAUSE_SECONDS: readonly number[] = [
  5,
  MINUTE_SECONDS,
  5 * MINUTE_SECONDS,
  15 * MINUTE_SECONDS,
  HOUR_SECONDS,
  2 * HOUR_SECONDS,
  4 * HOUR_SECONDS,
  8 * HOUR_SECONDS,
  10 * HOUR_SECONDS,
];

/** When a letter is tried again whose attempt of this number (from 1) has failed; `undefined`: it is given up. */
export const letterRetryAt = (attempt: number, failedAt: Date): Date | undefined => {
  const seconds = PAUSE_SECONDS[attempt - 1];
  return seconds === undefined ? undefined : new Date(failedAt.getTime() + seconds * 1000);
};
