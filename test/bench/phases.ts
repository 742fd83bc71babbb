import { setTimeout } from "node:timers/promises";
import { readVitalSigns, type VitalSigns } from "./vital-signs.js";

/** A stretch of a run: when it began and ended, as `performance.now()` counts, and the service's vital signs in it. */
export type Phase = {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly signs: readonly VitalSigns[];
};

const SAMPLE_MILLISECONDS = 2_000;

/** Does the work, and reads the vital signs again and again meanwhile. */
export const during = async <T>(
  name: string,
  url: string,
  work: () => Promise<T>,
): Promise<{ readonly phase: Phase; readonly result: T }> => {
  const from = performance.now();
  const signs = [await readVitalSigns(url)];
  const done = new AbortController();
  const sampling = async () => {
    for (;;) {
      await setTimeout(SAMPLE_MILLISECONDS, undefined, { signal: done.signal }).catch(() => {});
      signs.push(await readVitalSigns(url));
      if (done.signal.aborted) return;
    }
  };
  const [result] = await Promise.all([work().finally(() => done.abort()), sampling()]);
  return { phase: { name, from, to: performance.now(), signs }, result };
};
