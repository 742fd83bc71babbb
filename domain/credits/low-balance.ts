import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import type { Credits } from "./credits.js";

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

/** A notice is sent only when the balance crosses the threshold, not for every task below it. */
export const crossesLowBalance = (before: Credits, after: Credits, threshold: Credits): boolean =>
  before >= threshold && after < threshold;
