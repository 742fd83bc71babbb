import { setTimeout } from "node:timers/promises";
import { type ProcessMetrics, readProcessMetrics } from "./process-metrics.js";

/** A part of a run: its start and end in `performance.now()` time, and samples of the service's process metrics. */
export type Phase = {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly samples: readonly ProcessMetrics[];
};

const SAMPLE_MILLISECONDS = 2_000;

/** Does the work, and samples the process metrics every two seconds until it is done. */
export const during = async <T>(
  name: string,
  url: string,
  work: () => Promise<T>,
): Promise<{ readonly phase: Phase; readonly result: T }> => {
  const from = performance.now();
  const samples = [await readProcessMetrics(url)];
  const done = new AbortController();
  const sampling = async () => {
    for (;;) {
      await setTimeout(SAMPLE_MILLISECONDS, undefined, { signal: done.signal }).catch(() => {});
      samples.push(await readProcessMetrics(url));
      if (done.signal.aborted) return;
    }
  };
  const [result] = await Promise.all([work().finally(() => done.abort()), sampling()]);
  return { phase: { name, from, to: performance.now(), samples }, result };
};
