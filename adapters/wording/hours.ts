/** `24 hours`, `7 days`: days only if there are several whole ones. */
export const hours = (count: number): string => {
  const days = count / 24;
  if (days > 1 && Number.isInteger(days)) return `${days} days`;
  return count === 1 ? "1 hour" : `${count} hours`;
};
