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

/** `times`: those of each subject, in milliseconds. */
export type Timed = {
  readonly name: string;
  readonly times: readonly (readonly number[])[];
  readonly isSlower: boolean;
};

/**
 * Measures all, and again what seems slower for a later subject than for the first: more than `slowdownMax` times as
 * long, and longer by more than its noise. All are measured `passesMin` times.
 */
export const measure = async (
  all: readonly Measured[],
  slowdownMax: number,
  passesMin = 1,
): Promise<readonly Timed[]> => {
  const measured = all.map((one) => ({ ...one, times: one.subjects.map((): number[] => []) }));
  let slower = measured;
  for (let pass = 0; pass < PASSES && slower.length > 0; pass += 1) {
    for (const { subjects, times } of slower) {
      for (let run = 0; run < RUNS; run += 1) {
        const turns = [...subjects.entries()];
        for (const [index, work] of run % 2 === 0 ? turns : turns.reverse()) times[index]?.push(await work(run));
      }
    }
    if (pass + 1 >= passesMin) slower = slower.filter(({ times, noise }) => isSlower(times, noise, slowdownMax));
  }
  return measured.map((one) => ({ ...one, isSlower: slower.includes(one) }));
};

/** Measures all, and prints their times. Returns those that stay slower. */
export const findSlower = async (all: readonly Measured[]): Promise<readonly string[]> => {
  const measured = await measure(all, SLOWDOWN_MAX);
  const lines = (some: readonly Timed[]) => some.map(({ name, times }) => `${name}: ${inWords(times)}`);
  console.log(lines(measured).join("\n"));
  return lines(measured.filter((one) => one.isSlower));
};

export const shortest = (times: readonly number[]): number => Math.min(...times);
export const median = (times: readonly number[]): number => quantile(times, 0.5);

/**
 * By the shortest times and by the medians. On a busy machine, one of the two can differ by chance: a single run of one
 * subject that nothing interrupts, or interruptions of many runs of another.
 */
export const isSlower = (times: readonly (readonly number[])[], noise: number, slowdownMax: number): boolean =>
  [shortest, median].every((of) => {
    const [base = 0, ...others] = times.map(of);
    return Math.max(...others) > Math.max(base * slowdownMax, base + noise);
  });

const inWords = (times: readonly (readonly number[])[]): string =>
  `${times.map((some) => shortest(some).toFixed(2)).join(" → ")} ms (${times.map((some) => median(some).toFixed(2)).join(" → ")})`;
