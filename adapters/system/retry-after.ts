/** `Retry-After` by RFC 9110, seconds or a date, as milliseconds from `now`; `undefined` if it says nothing. */
export const retryAfterMilliseconds = (header: string | undefined, now: Date): number | undefined => {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
};
