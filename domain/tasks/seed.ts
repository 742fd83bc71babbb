/** The customer's seed for the random numbers of a generation: an integer that every model accepts. */
export const SEED_MAX = 2 ** 31 - 1;

/** Whether the value is a seed: a whole number from 0 to `SEED_MAX`. */
export const isSeed = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= SEED_MAX;
