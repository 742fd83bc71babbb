/** What usage is summed by. `day`: in UTC. `provider`: the place that has made it, such as `fal:seedream-4.5`. */
export const USAGE_PARTS = ["day", "account", "key", "resolution", "provider"] as const;
/** One of `USAGE_PARTS`. */
export type UsagePart = (typeof USAGE_PARTS)[number];

/** The tasks of the period are those that were reserved in it. */
export type UsageQuery = {
  readonly from: Date;
  /** Not in the period any more. */
  readonly to: Date;
  /** Absent: everything together. */
  readonly by?: UsagePart | undefined;
};

/** Sums of tasks with the same part and the same currency of their cost. */
export type UsageLine = {
  /** The day (`2026-11-23`), id or name. `undefined`: they have none, as those that were made without a key. */
  readonly part: string | undefined;
  readonly succeeded: number;
  readonly failed: number;
  readonly active: number;
  /** Credits of those that succeeded, failed, and are active. Together they are all that was reserved. */
  readonly charged: number;
  readonly refunded: number;
  readonly held: number;
  /** Of the cost to the operator; `undefined`: the cost of these tasks is not known. */
  readonly currency: string | undefined;
  /** Millionths of the currency. */
  readonly micros: number;
};

/** Sums over the tasks of all accounts, deleted ones included. Reads the tasks of the period only. */
export interface UsageStore {
  /** In no particular order. */
  usage(query: UsageQuery): Promise<UsageLine[]>;
}
