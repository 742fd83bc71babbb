/** The quantile `share` (0 to 1) of the numbers; NaN if there are none. */
export const quantile = (numbers: readonly number[], share: number): number =>
  Float64Array.from(numbers).sort()[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;
