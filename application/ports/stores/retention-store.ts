import type { Retained, Retention } from "../../../domain/images/retention.js";

/** How much of something there is, and how old it is; without dates if there is none. */
export type Amount = { readonly count: number; readonly oldest?: Date | undefined; readonly newest?: Date | undefined };

/** The retentions that all instances share (domain/images/retention.ts). Throws if the store is unreachable. */
export interface RetentionStore {
  /** `undefined` if none was stored yet. */
  find(retained: Retained): Promise<Retention | undefined>;
  /** Stores what `decide` returns, and returns it. `decide` is pure; concurrent changes wait for each other. */
  change(retained: Retained, decide: (stored: Retention | undefined) => Retention): Promise<Retention>;
  /**
   * The finished images that are kept, by the success of their task, or the uploaded images that no task uses, by their
   * upload: those from before this time. Uploads of closed accounts do not count; they are erased in any case.
   */
  olderThan(retained: Retained, before: Date): Promise<Amount>;
}
