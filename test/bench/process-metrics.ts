import { readFile } from "node:fs/promises";

/** Needs Linux. */
export const residentMebibytes = async ({ pid }: { readonly pid: number | undefined }): Promise<number> =>
  Number(/VmRSS:\s*(\d+)/.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** Metrics of the service's process, read from `/metrics`. */
export type ProcessMetrics = {
  /** Time of the sample in `performance.now()` milliseconds. */
  readonly at: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** CPU time of all threads since the process started. */
  readonly cpuSeconds: number;
  /** 99th percentile of the event loop lag since the previous sample. */
  readonly lagSeconds: number;
};

export const readProcessMetrics = async (url: string): Promise<ProcessMetrics> => {
  const answer = await fetch(`${url}/metrics`);
  const metrics = await answer.text();
  const value = (name: string): number => {
    const [, number] = new RegExp(`^${name} (\\S+)$`, "m").exec(metrics) ?? [];
    if (number === undefined) throw new Error(`/metrics has no ${name}`);
    return Number(number);
  };
  return {
    at: performance.now(),
    residentBytes: value("process_resident_memory_bytes"),
    heapBytes: value("nodejs_heap_size_used_bytes"),
    cpuSeconds: value("process_cpu_seconds_total"),
    lagSeconds: value("nodejs_eventloop_lag_p99_seconds"),
  };
};
