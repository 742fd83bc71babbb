import { describe, expect, it } from "vitest";
import { isPossiblePassword, parsePassword } from "../../../domain/accounts/password.js";

describe("a password", () => {
  it.each(["ten chars!", "x".repeat(200), "🔑".repeat(10), "correct horse battery staple"])("may be %j", (text) => {
    expect(parsePassword(text)._unsafeUnwrap()).toBe(text);
  });

  it("may be compared with any text of up to 200 characters", () => {
    for (const text of ["", "short", "🔑".repeat(200)]) expect(isPossiblePassword(text)).toBe(true);
    expect(isPossiblePassword("🔑".repeat(201))).toBe(false);
  });

  it("cannot contain half a surrogate pair", () => {
    expect(parsePassword("half a pair \ud83d").isErr()).toBe(true);
  });

  it.each([
    ["nine char", 9],
    ["", 0],
    ["🔑".repeat(9), 9],
    ["x".repeat(201), 201],
  ])("may not be %j, and the error does not contain it", (text, characters) => {
    expect(parsePassword(text)._unsafeUnwrapErr()).toEqual({
      kind: "invalid_request",
      field: "password",
      rule: { name: "characters", min: 10, max: 200, actual: characters },
    });
  });
});
