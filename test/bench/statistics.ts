/** The quantile `share` (0 to 1) of the numbers; NaN if there are none. */
export const quantile = (numbers: readonly number[], share: number): number =>
  [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;

/** The maximum number of moments within any window of the given length. `moments` must be in ascending order. */
export const maxCountWithin = (length: number, moments: readonly number[]): number => {
  let max = 0;
  for (let first = 0, next = 0; next < moments.length; next += 1) {
    while ((moments[next] ?? 0) - (moments[first] ?? 0) >= length) first += 1;
    max = Math.max(max, next - first + 1);
  }
  return max;
};

/** The time from each moment to the next. */
export const intervals = (moments: readonly number[]): number[] =>
  moments.slice(1).map((moment, index) => moment - (moments[index] ?? 0));
