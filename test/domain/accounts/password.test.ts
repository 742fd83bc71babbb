import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { email } from "../../../domain/accounts/account.js";
import {
  INVITATION_SECONDS,
  isPossiblePassword,
  openPasswordLink,
  PASSWORD_LINKS_MAX,
  parsePassword,
} from "../../../domain/accounts/password.js";

it.each(["ten chars!", "x".repeat(200), "🔑".repeat(10), "correct horse battery staple"])(
  "%j may be a password",
  (text) => {
    expect(parsePassword(text)).toEqual(ok(text));
  },
);

it.each([
  ["nine char", 9],
  ["", 0],
  [" ".repeat(10), 0],
  ["🔑".repeat(9), 9],
  ["x".repeat(201), 201],
  ["half a pair \ud83d", 13],
])("%j may not be a password, and the error does not contain it", (text, actual) => {
  const rule = { name: "characters", min: 10, max: 200, actual };
  expect(parsePassword(text)).toEqual(err({ kind: "invalid_request", field: "password", rule }));
});

it("any text of up to 200 characters is compared with a password", () => {
  for (const text of ["", "short", "🔑".repeat(200)]) expect(isPossiblePassword(text)).toBe(true);
  expect(isPossiblePassword("🔑".repeat(201))).toBe(false);
});

it("a password link is valid for an hour, an invitation for seven days, and five of one address at the same time", () => {
  const link = { tokenSha256: "ab".repeat(32), email: email("owner@example.com") };
  const expiresAt = secondsAfter(noon, 3_600);
  expect(openPasswordLink(link.email, link.tokenSha256, noon)).toEqual({ ...link, expiresAt });
  expect([PASSWORD_LINKS_MAX, INVITATION_SECONDS]).toEqual([5, 604_800]);
});
