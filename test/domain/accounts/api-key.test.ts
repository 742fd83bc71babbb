import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { accountId } from "../../../adapters/contracts/support/builders.js";
import { admitKey, allowKey, apiKeySecret, parseKeyName } from "../../../domain/accounts/api-key.js";

it("an API key starts with sk-", () => {
  expect(apiKeySecret("a".repeat(43))).toBe(`sk-${"a".repeat(43)}`);
});

it("an API key is refused if the account has 20 keys that are not revoked", () => {
  expect(admitKey(19)).toEqual(ok(undefined));
  expect(admitKey(20)).toEqual(err({ kind: "too_many_api_keys", limit: 20 }));
});

it("an API key needs at least one paid order", () => {
  expect(allowKey(accountId(1), 0)).toEqual(err({ kind: "no_paid_order", accountId: accountId(1) }));
  expect(allowKey(accountId(1), 1)).toEqual(ok(undefined));
});

it.each(["laptop", "  build server ", "k", "k".repeat(80), "🔑".repeat(80)])(
  "%j may be the name of an API key",
  (text) => {
    expect(parseKeyName(text)).toEqual(ok(text.trim()));
  },
);

it.each(["", "   ", "two\nlines", "nul\u0000", "half \ud83d", "k".repeat(81)])(
  "%j cannot be the name of an API key",
  (text) => {
    const rule = { name: "visible_characters", min: 1, max: 80, actual: text };
    expect(parseKeyName(text)).toEqual(err({ kind: "invalid_request", field: "name", rule }));
  },
);
