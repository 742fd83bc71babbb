import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { parseEmail } from "../../../domain/accounts/account.js";
import { accountId, parseAccountId } from "../../../domain/ids.js";

describe("parseAccountId", () => {
  it.each(["acct_1", "customer", "A-Z_09", "x".repeat(40)])("accepts %j", (text) => {
    expect(parseAccountId(text)).toBe(text);
  });

  it.each(["", "two words", "a/b", "x\u0000", "x".repeat(41)])("returns undefined for %j", (text) => {
    expect(parseAccountId(text)).toBeUndefined();
  });
});

it("accountId accepts a valid constant, and throws for other text", () => {
  expect(accountId("acme")).toBe("acme");
  expect(() => accountId("two words")).toThrow(
    new RangeError('"two words" cannot be an account id: 1 to 40 of the characters A-Z, a-z, 0-9, _ and -'),
  );
});

describe("parseEmail", () => {
  it.each([
    ["Name@Example.COM", "name@example.com"],
    ["  name@example.com\n", "name@example.com"],
    ["first.last+tag@mail.example.co.uk", "first.last+tag@mail.example.co.uk"],
    ["operator@localhost", "operator@localhost"],
    ["用户@例子.中国", "用户@例子.中国"],
  ])("normalises %j to %j", (text, email) => {
    expect(parseEmail(text)).toEqual(ok(email));
  });

  it.each([
    "",
    "name",
    "@example.com",
    "name@",
    "name@@example.com",
    "name@example..com",
    "name@.com",
    "name@example.com.",
    "first last@example.com",
    "name@exam ple.com",
    "name\u0000@example.com",
    "name\ud83d@example.com",
  ])("refuses %j", (text) => {
    expect(parseEmail(text)).toEqual(
      err({ kind: "invalid_request", field: "email", rule: { name: "email", actual: text } }),
    );
  });

  it("accepts at most 254 characters", () => {
    const at = "@example.com";
    expect(parseEmail("n".repeat(254 - at.length) + at).isOk()).toBe(true);
    expect(parseEmail("n".repeat(255 - at.length) + at).isErr()).toBe(true);
  });

  it("returns its own result unchanged when it is applied again", () => {
    return fc.assert(
      fc.property(fc.oneof(fc.emailAddress(), fc.string({ unit: "binary" })), (text) => {
        const parsed = parseEmail(text);
        if (parsed.isOk()) expect(parseEmail(parsed.value)).toEqual(parsed);
      }),
    );
  });
});
