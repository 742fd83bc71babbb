const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;

/** Pauses after failed attempts to send an e-mail. Together they outlast a one-day outage of the mail server. */
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

/** Maximum pause until the next attempt. */
export const EMAIL_PAUSE_MILLISECONDS_MAX = Math.max(...PAUSE_SECONDS) * 1000;

/** Time of the next attempt after the failed attempt number `attempt` (from 1); `undefined`: give up. */
export const emailRetryAt = (attempt: number, failedAt: Date): Date | undefined => {
  const seconds = PAUSE_SECONDS[attempt - 1];
  return seconds === undefined ? undefined : new Date(failedAt.getTime() + seconds * 1000);
};
