import { quantile } from "../statistics.js";

/** The same work for several subjects, the first of which has the least. Each resolves to its milliseconds. */
export type Measured = {
  readonly name: string;
  readonly subjects: readonly ((run: number) => Promise<number>)[];
  /** Below this difference, in milliseconds, a slowdown cannot be told from noise. */
  readonly noise: number;
};

export const SLOWDOWN_MAX = 1.5;
/** So many runs of each, in turns. */
const RUNS = 5;
/** What seems slower is measured again after everything else, because other work on the machine comes in waves. */
const PASSES = 20;

/**
 * Measures all, and again what seems slower for a later subject than for the first. Prints their times. Returns those
 * that stay slower.
 */
export const findSlower = async (all: readonly Measured[]): Promise<readonly string[]> => {
  const measured = all.map((one) => ({ ...one, times: one.subjects.map((): number[] => []) }));
  let slower = measured;
  for (let pass = 0; pass < PASSES && slower.length > 0; pass += 1) {
    for (const { subjects, times } of slower) {
      for (let run = 0; run < RUNS; run += 1) {
        const turns = [...subjects.entries()];
        for (const [index, work] of run % 2 === 0 ? turns : turns.reverse()) times[index]?.push(await work(run));
      }
    }
    slower = slower.filter(({ times, noise }) => isSlower(times, noise));
  }
  const lines = (some: typeof measured) => some.map(({ name, times }) => `${name}: ${inWords(times)}`);
  console.log(lines(measured).join("\n"));
  return lines(slower);
};

const shortest = (times: readonly number[]): number => Math.min(...times);
const median = (times: readonly number[]): number => quantile(times, 0.5);

/**
 * By the shortest times and by the medians. On a busy machine, one of the two can differ by chance: a single run of one
 * subject that nothing interrupts, or interruptions of many runs of another.
 */
const isSlower = (times: readonly (readonly number[])[], noise: number): boolean =>
  [shortest, median].every((of) => {
    const [base = 0, ...others] = times.map(of);
    return Math.max(...others) > Math.max(base * SLOWDOWN_MAX, base + noise);
  });

const inWords = (times: readonly (readonly number[])[]): string =>
  `${times.map((some) => shortest(some).toFixed(2)).join(" → ")} ms (${times.map((some) => median(some).toFixed(2)).join(" → ")})`;
