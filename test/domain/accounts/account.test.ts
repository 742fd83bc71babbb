import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { parseEmail } from "../../../domain/accounts/account.js";

describe("parseEmail", () => {
  it.each([
    ["Name@Example.COM", "name@example.com"],
    ["  name@example.com\n", "name@example.com"],
    ["first.last+tag@mail.example.co.uk", "first.last+tag@mail.example.co.uk"],
    ["operator@localhost", "operator@localhost"],
    ["用户@例子.中国", "用户@例子.中国"],
    [`${"n".repeat(242)}@example.com`, `${"n".repeat(242)}@example.com`],
  ])("normalises %j to %j", (text, email) => {
    expect(parseEmail(text)).toEqual(ok(email));
  });

  it.each([
    ["", "name", "@example.com", "name@", "name@@example.com", "name@example..com", "name@.com", "name@example.com."],
    ["first last@example.com", "name@exam ple.com", "name\u0000@example.com", "name\ud83d@example.com"],
    [`${"n".repeat(243)}@example.com`],
  ])("refuses %j", (...texts) => {
    for (const text of texts) {
      const refused = { kind: "invalid_request", field: "email", rule: { name: "email", actual: text } };
      expect(parseEmail(text)).toEqual(err(refused));
    }
  });

  it("returns its own result unchanged when it is applied again", () => {
    const unit = fc.nat(0x10ffff).map((point) => String.fromCodePoint(point));
    const name = fc.string({ unit, minLength: 1, maxLength: 3 });
    const text = fc.oneof(
      fc.emailAddress(),
      fc.tuple(name, name).map(([user, host]) => `${user}@${host}`),
    );
    return fc.assert(
      fc.property(text, (text) => {
        const parsed = parseEmail(text);
        if (parsed.isOk()) expect(parseEmail(parsed.value)).toEqual(parsed);
      }),
    );
  });
});
