import type { AccountId } from "../account-id.js";
import type { Day } from "./budget.js";
import type { Credits } from "./credits.js";

/**
 * The creations of an account that ended without a panorama on one day (UTC): their number, and the bytes of their
 * texts, which are stored. They cost no credits, so without a limit an account could fill the database for nothing.
 */
export type Failures = { readonly day: Day; readonly count: number; readonly bytes: number };

/** The state of an account that decides whether it may open a new task (specification, Limits). */
export type Standing = {
  readonly accountId: AccountId;
  readonly credits: Credits;
  /** Credits that were spent before their payment came back (ledger.ts); `undefined`: none. */
  readonly debt?: Credits | undefined;
  /** Orders with an open dispute; `undefined`: none. */
  readonly openDisputes?: number | undefined;
  /** Why an operator has suspended it (accounts/account.ts); `undefined`: it is not suspended. */
  readonly suspensionReason?: string | undefined;
  /** Tasks that are `processing`. */
  readonly activeTasks: number;
  /** Below this balance the owner is told (low-balance.ts). */
  readonly lowBalanceThreshold?: Credits | undefined;
  /** Its creations without a panorama, on the latest day with any; `undefined`: there were none. */
  readonly failures?: Failures | undefined;
};
