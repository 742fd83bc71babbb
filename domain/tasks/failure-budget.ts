import { err, ok, type Result } from "neverthrow";
import { dayOf, windowEnd } from "../credits/budget.js";
import type { Rate } from "../credits/rate-limit.js";
import type { Failures } from "../credits/standing.js";
import type { CreationRequest } from "./creation-request.js";

/** The account had too many failed creations today. `retryAfterSeconds`: until the day ends, in UTC. */
export type TooManyFailures = { readonly kind: "too_many_failures"; readonly retryAfterSeconds: number };

/** Minutes of a key's writes that may all fail in a day: more than an outage of a provider causes. */
const MINUTES = 200;
/** Allowed bytes per failure: four times the texts of most failed creations. The longest ones have 48 kB. */
const BYTES_OF_EACH = 16 * 1024;

/** Maximum failures of an account per day. `writes`: the limit of an API key. */
export const failuresMax = (writes: Rate): Omit<Failures, "day"> => {
  const count = MINUTES * writes.limit;
  return { count, bytes: count * BYTES_OF_EACH };
};

/** Checks that the account may try again today. `failures`: of its latest day with any. */
export const admitAfterFailures = (
  failures: Failures | undefined,
  writes: Rate,
  now: Date,
): Result<void, TooManyFailures> => {
  if (failures?.day !== dayOf(now)) return ok(undefined);
  const max = failuresMax(writes);
  if (failures.count < max.count && failures.bytes < max.bytes) return ok(undefined);
  const milliseconds = windowEnd("day", now).getTime() - now.getTime();
  return err({ kind: "too_many_failures", retryAfterSeconds: Math.ceil(milliseconds / 1000) });
};

/** The failures of the day of `now`, with one more. */
export const withFailure = (failures: Failures | undefined, request: CreationRequest, now: Date): Failures => {
  const day = dayOf(now);
  const { count, bytes } = failures?.day === day ? failures : { count: 0, bytes: 0 };
  return { day, count: count + 1, bytes: bytes + bytesOf(request) };
};

/** Bytes of the texts that the customer chooses, in UTF-8. */
export const bytesOf = ({ prompt = "", imageUrls, metadata, webhookUrl = "" }: CreationRequest): number => {
  const texts = [prompt, webhookUrl, ...imageUrls, ...Object.entries(metadata).flat()];
  return texts.reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
};
