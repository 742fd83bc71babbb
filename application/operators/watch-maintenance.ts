import type { Clock } from "../ports/clock.js";
import type { Maintenance, MaintenanceStore } from "../ports/stores/maintenance-store.js";

/** An instance follows the others within this time. */
const LOOK_MILLISECONDS = 1_000;

/** Knows whether the service is in maintenance. */
export type MaintenanceWatch = {
  /** As of the last look. While the store cannot be reached, what was known before. */
  current(): Maintenance | undefined;
  stop(): void;
};

/** Looks every second whether an operator has put the service into maintenance, or ended it, and tells each change. */
export const watchMaintenance = (
  { maintenance, clock }: { readonly maintenance: Pick<MaintenanceStore, "read">; readonly clock: Clock },
  onChange: (maintenance: Maintenance | undefined) => void,
): MaintenanceWatch => {
  const stopping = new AbortController();
  let known: Maintenance | undefined;
  const look = async (): Promise<void> => {
    const read = await maintenance.read();
    const hasChanged = read?.message !== known?.message;
    known = read;
    if (hasChanged) onChange(read);
  };
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await look().catch(() => {}); // others tell that the database is away
      await clock.sleep(LOOK_MILLISECONDS, stopping.signal);
    }
  };
  void watch();
  return { current: () => known, stop: () => stopping.abort() };
};
