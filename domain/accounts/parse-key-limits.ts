import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type { Credits } from "../credits/credits.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import { type KeyLimits, SCOPES, type Scope } from "./key-limits.js";

/** A budget has 1 to 1,000,000,000 credits. */
const BUDGET_CREDITS_MAX = 1_000_000_000;

/** The limits of a new key as a person types them. `undefined` or empty: no limit. */
export type KeyLimitsInput = {
  readonly scopes?: readonly string[] | undefined;
  /** Date or time as in RFC 3339. Default offset: UTC. A date means 00:00. */
  readonly expires_at?: string | undefined;
  readonly credits_per_day?: string | undefined;
  readonly credits_per_month?: string | undefined;
};

/** Parses the limits. The error names the first invalid one. An expiry must be later than `now`. */
export const parseKeyLimits = (input: KeyLimitsInput, now: Date): Result<KeyLimits, InvalidRequest> =>
  parseScopes(input.scopes).andThen((scopes) =>
    parseExpiry(input.expires_at, now).andThen((expiresAt) =>
      parseBudget("credits_per_day", input.credits_per_day).andThen((creditsPerDay) =>
        parseBudget("credits_per_month", input.credits_per_month).map((creditsPerMonth) => ({
          scopes,
          expiresAt,
          creditsPerDay,
          creditsPerMonth,
        })),
      ),
    ),
  );

const parseScopes = (texts: readonly string[] | undefined): Result<readonly Scope[], InvalidRequest> => {
  if (texts === undefined) return ok(SCOPES);
  const scopes = SCOPES.filter((scope) => texts.includes(scope));
  const unknown = texts.find((text) => !SCOPES.some((scope) => scope === text));
  return unknown === undefined && scopes.length > 0
    ? ok(scopes)
    : err(invalidRequest("scopes", { name: "one_of", allowed: SCOPES, actual: unknown }));
};

const TIME = z.union([z.iso.datetime({ offset: true }), z.iso.datetime({ local: true }), z.iso.date()]);
const HAS_NO_OFFSET = /T[^Z+-]*$/;

const parseExpiry = (text: string | undefined, now: Date): Result<Date | undefined, InvalidRequest> => {
  if (text === undefined || text === "") return ok(undefined);
  const refused = err(invalidRequest("expires_at", { name: "future_time", actual: text }));
  if (!TIME.safeParse(text).success) return refused;
  // JavaScript reads a date as UTC, but a time without an offset as local.
  const time = new Date(HAS_NO_OFFSET.test(text) ? `${text}Z` : text);
  return time.getTime() > now.getTime() ? ok(time) : refused;
};

const parseBudget = (field: string, text: string | undefined): Result<Credits | undefined, InvalidRequest> => {
  if (text === undefined || text === "") return ok(undefined);
  const amount = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return amount >= 1 && amount <= BUDGET_CREDITS_MAX
    ? ok(amount as Credits)
    : err(invalidRequest(field, { name: "integer", min: 1, max: BUDGET_CREDITS_MAX, actual: text }));
};
