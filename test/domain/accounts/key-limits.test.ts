import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { noon } from "../../../adapters/contracts/support/builders.js";
import { allowUse, NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import { type KeyLimitsInput, parseKeyLimits } from "../../../domain/accounts/parse-key-limits.js";

const later = (milliseconds: number): Date => new Date(noon.getTime() + milliseconds);

describe("allowUse", () => {
  it("refuses a key from the millisecond in which it expires", () => {
    const limits = { ...NO_LIMITS, expiresAt: later(1_000) };
    expect(allowUse(limits, "read", later(999))).toEqual(ok(undefined));
    const expired = err({ kind: "api_key_expired", expiredAt: later(1_000) });
    expect(allowUse(limits, "read", later(1_000))).toEqual(expired);
    expect(allowUse(limits, "create", later(1_000_000))).toEqual(expired);
  });

  it("refuses a request for which the key has no scope", () => {
    const reader = { ...NO_LIMITS, scopes: ["read"] as const };
    expect(allowUse(reader, "read", noon)).toEqual(ok(undefined));
    expect(allowUse(reader, "create", noon)).toEqual(err({ kind: "missing_scope", scope: "create" }));
    const creator = { ...NO_LIMITS, scopes: ["create"] as const };
    expect(allowUse(creator, "create", noon)).toEqual(ok(undefined));
    expect(allowUse(creator, "read", noon)).toEqual(err({ kind: "missing_scope", scope: "read" }));
  });

  it("names the expiry of a key that also lacks the scope", () => {
    const both = { ...NO_LIMITS, scopes: ["read"] as const, expiresAt: noon };
    expect(allowUse(both, "create", noon)).toEqual(err({ kind: "api_key_expired", expiredAt: noon }));
  });
});

describe("parseKeyLimits", () => {
  const parse = (input: KeyLimitsInput) => parseKeyLimits(input, noon);

  it("returns no limit for missing and empty values", () => {
    expect(parse({})).toEqual(ok(NO_LIMITS));
    expect(parse({ expires_at: "", credits_per_day: "", credits_per_month: "" })).toEqual(ok(NO_LIMITS));
  });

  it("reads every limit", () => {
    const input = {
      scopes: ["create"],
      expires_at: "2026-02-01",
      credits_per_day: "1",
      credits_per_month: "1000000000",
    };
    expect(parse(input)).toEqual(
      ok({
        scopes: ["create"],
        expiresAt: new Date("2026-02-01T00:00:00Z"),
        creditsPerDay: 1,
        creditsPerMonth: 1_000_000_000,
      }),
    );
    expect(parse({ scopes: ["create", "read", "read"] })._unsafeUnwrap().scopes).toEqual(["read", "create"]);
  });

  it.each([
    ["2026-01-02", "2026-01-02T00:00:00.000Z"],
    ["2026-01-02T10:30", "2026-01-02T10:30:00.000Z"],
    ["2026-01-02T10:30:15", "2026-01-02T10:30:15.000Z"],
    ["2026-01-02T10:30:15Z", "2026-01-02T10:30:15.000Z"],
    ["2026-01-02T10:30:15.250+02:00", "2026-01-02T08:30:15.250Z"],
    ["2026-01-01T12:00:00.001Z", "2026-01-01T12:00:00.001Z"],
  ])("parses the expiry %s as %s in any time zone", (text, expected) => {
    expect(parse({ expires_at: text })._unsafeUnwrap().expiresAt?.toISOString()).toBe(expected);
  });

  it.each(["2026-01-01", "2026-01-01T12:00:00Z", "2026-02-31", "tomorrow", "2026", "1767355200000", "2026-13-01"])(
    "refuses the expiry %j",
    (text) => {
      const rule = { name: "future_time", actual: text };
      expect(parse({ expires_at: text })).toEqual(err({ kind: "invalid_request", field: "expires_at", rule }));
    },
  );

  it.each(["0", "-1", "1.5", "1e3", "ten", " 5", "1000000001"])("refuses the budget %j", (text) => {
    const rule = { name: "integer", min: 1, max: 1_000_000_000, actual: text };
    for (const field of ["credits_per_day", "credits_per_month"] as const) {
      expect(parse({ [field]: text })).toEqual(err({ kind: "invalid_request", field, rule }));
    }
  });

  it("rejects an unknown scope and an empty list of scopes", () => {
    const refused = (actual: string | undefined) =>
      err({
        kind: "invalid_request",
        field: "scopes",
        rule: { name: "one_of", allowed: ["read", "create"], actual },
      });
    expect(parse({ scopes: ["read", "write"] })).toEqual(refused("write"));
    expect(parse({ scopes: [] })).toEqual(refused(undefined));
    expect(parse({ scopes: [""] })).toEqual(refused(""));
  });
});
