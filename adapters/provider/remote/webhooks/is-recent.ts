const TOLERANCE_SECONDS = 300;

/** Whether a notice was signed just now, by a clock that is nearly ours; the time is in Unix seconds. */
export const isRecent = (timestamp: string, now: Date): boolean =>
  /^\d{1,12}$/.test(timestamp) && Math.abs(Number(timestamp) - now.getTime() / 1000) <= TOLERANCE_SECONDS;
