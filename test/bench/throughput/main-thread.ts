import { readFile } from "node:fs/promises";

/** What is measured beside a throughput: of each round the 99th percentile, and the main thread's time per answer. */
export type Measured = { readonly p99s: number[]; readonly cpu: number[] };

export const newMeasured = (): Measured => ({ p99s: [], cpu: [] });

/** Processor time of the main thread of a process so far. NaN where the system does not tell it (not on Linux). */
export const mainThreadSeconds = async (pid: number | undefined): Promise<number> => {
  const text = await readFile(`/proc/${pid}/task/${pid}/schedstat`, "utf8").catch(() => "NaN");
  return Number(text.split(" ")[0]) / 1e9;
};
