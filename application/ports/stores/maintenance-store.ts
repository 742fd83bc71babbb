/** While it lasts, the service takes no work; reads go on. `message` is for customers. */
export type Maintenance = { readonly message: string; readonly since: Date };

/** Whether an operator has put the service into maintenance, for all instances. Throws if the store is unreachable. */
export interface MaintenanceStore {
  read(): Promise<Maintenance | undefined>;
  /** Replaces the message of a maintenance that lasts already, which keeps its beginning. */
  begin(maintenance: Maintenance): Promise<void>;
  end(): Promise<void>;
}
