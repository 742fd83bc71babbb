import type { Maintenance, MaintenanceStore } from "../../../application/ports/stores/maintenance-store.js";

/** The maintenance in memory. */
export class MemoryMaintenanceStore implements MaintenanceStore {
  private current: Maintenance | undefined;

  async read(): Promise<Maintenance | undefined> {
    return this.current;
  }

  async begin(maintenance: Maintenance): Promise<void> {
    this.current = { ...maintenance, since: this.current?.since ?? maintenance.since };
  }

  async end(): Promise<void> {
    this.current = undefined;
  }
}
