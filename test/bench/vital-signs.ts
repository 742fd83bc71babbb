/** What the service says of its own process at `/metrics`. */
export type VitalSigns = {
  /** When: milliseconds, as `performance.now()` counts them. */
  readonly at: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
  /** Of all threads, since the process started. */
  readonly cpuSeconds: number;
  /** The 99th percentile since the vital signs were last read. */
  readonly lagSeconds: number;
};

export const readVitalSigns = async (url: string): Promise<VitalSigns> => {
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
