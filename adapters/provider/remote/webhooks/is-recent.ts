const TOLERANCE_SECONDS = 300;

/** Whether a webhook's timestamp, in Unix seconds, is at most 5 minutes before or after `now`. */
export const isRecent = (timestamp: string, now: Date): boolean =>
  /^\d{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) - now.getTime() / 1000) <= TOLERANCE_SECONDS;
