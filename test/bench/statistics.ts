/** The value below which such a share (0 to 1) of the numbers lies; NaN if there are none. */
export const quantile = (numbers: readonly number[], share: number): number =>
  [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;

/** How many of the moments, which are in order, lie within any stretch of such a length at most. */
export const mostWithin = (length: number, moments: readonly number[]): number => {
  let most = 0;
  for (let first = 0, next = 0; next < moments.length; next += 1) {
    while ((moments[next] ?? 0) - (moments[first] ?? 0) >= length) first += 1;
    most = Math.max(most, next - first + 1);
  }
  return most;
};

/** From each moment to the next one. */
export const gaps = (moments: readonly number[]): number[] =>
  moments.slice(1).map((moment, index) => moment - (moments[index] ?? 0));
