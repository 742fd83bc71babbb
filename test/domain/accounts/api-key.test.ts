import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { accountId } from "../../../adapters/contracts/support/builders.js";
import { admitKey, allowKey, apiKeySecret, parseApiKeySecret, parseKeyName } from "../../../domain/accounts/api-key.js";

describe("an API key", () => {
  it("starts with sk-, holds 32 random bytes, and is parsed from a request", () => {
    return fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        const text = Buffer.from(bytes).toString("base64url");
        expect(apiKeySecret(text)).toBe(`sk-${text}`);
        expect(parseApiKeySecret(`sk-${text}`)).toBe(`sk-${text}`);
      }),
    );
  });

  it.each([
    "",
    "sk-",
    "a".repeat(46),
    `sk-${"a".repeat(42)}`,
    `sk-${"a".repeat(44)}`,
    `SK-${"a".repeat(43)}`,
    ` sk-${"a".repeat(43)}`,
    `sk-${"a".repeat(43)}\n`,
    `sk-${"a".repeat(42)}+`,
    `sk-${"a".repeat(42)}ä`,
  ])("returns undefined for %j, so no lookup is made", (text) => {
    expect(parseApiKeySecret(text)).toBeUndefined();
  });

  it("is refused if the account has 20 keys that are not revoked", () => {
    expect(admitKey(19)).toEqual(ok(undefined));
    expect(admitKey(20)).toEqual(err({ kind: "too_many_api_keys", limit: 20 }));
  });

  it("needs at least one paid order", () => {
    expect(allowKey(accountId(1), 0)).toEqual(err({ kind: "no_paid_order", accountId: accountId(1) }));
    expect(allowKey(accountId(1), 1)).toEqual(ok(undefined));
    expect(allowKey(accountId(1), 2)).toEqual(ok(undefined));
  });
});

describe("an API key's name", () => {
  it.each([
    ["laptop", "laptop"],
    ["  build server ", "build server"],
    ["k", "k"],
    ["k".repeat(80), "k".repeat(80)],
    ["🔑".repeat(80), "🔑".repeat(80)],
  ])("may be %j", (text, name) => {
    expect(parseKeyName(text)).toEqual(ok(name));
  });

  it.each(["", "   ", "two\nlines", "nul\u0000", "half \ud83d", "k".repeat(81)])("cannot be %j", (text) => {
    expect(parseKeyName(text)).toEqual(
      err({
        kind: "invalid_request",
        field: "name",
        rule: { name: "visible_characters", min: 1, max: 80, actual: text },
      }),
    );
  });
});
