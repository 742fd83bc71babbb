import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import type { Day } from "./budget.js";
import type { Credits } from "./credits.js";

/**
 * Failed creations of an account on one UTC day: their number, and the bytes of their texts. Limited, because they are
 * free but stored: otherwise an account could fill the database.
 */
export type Failures = { readonly day: Day; readonly count: number; readonly bytes: number };

/** The state of an account that decides whether it may open a new task (specification, Limits). */
export type Standing = {
  readonly accountId: AccountId;
  readonly credits: Credits;
  /** Credits that were spent before their payment was refunded (funds.ts); `undefined`: none. */
  readonly debt?: Credits | undefined;
  /** Orders with an open dispute; `undefined`: none. */
  readonly openDisputes?: number | undefined;
  /** An operator's reason for a suspension (accounts/account.ts); `undefined`: not suspended. */
  readonly suspensionReason?: string | undefined;
  /** Tasks that are `processing`. */
  readonly activeTasks: number;
  /** The low-balance threshold (`crossesLowBalance`). */
  readonly lowBalanceThreshold?: Credits | undefined;
  /** Failed creations on the latest day with any; `undefined`: there were none. */
  readonly failures?: Failures | undefined;
};

/** The balance of an account has fallen below its threshold. */
export type LowBalance = { readonly balance: Credits; readonly threshold: Credits };

const THRESHOLD_MAX = 1_000_000_000;

/** The threshold of an account has 1 to 1,000,000,000 credits. */
export const parseLowBalanceThreshold = (text: string): Result<Credits, InvalidRequest> => {
  const amount = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return amount >= 1 && amount <= THRESHOLD_MAX
    ? ok(amount as Credits)
    : err(invalidRequest("credits", { name: "integer", min: 1, max: THRESHOLD_MAX, actual: text }));
};

/**
 * True if the balance crosses the threshold, so that the owner gets one notice instead of one for every task below it.
 */
export const crossesLowBalance = (before: Credits, after: Credits, threshold: Credits): boolean =>
  before >= threshold && after < threshold;
