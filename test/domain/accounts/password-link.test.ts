import { expect, it } from "vitest";
import { noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import type { Email } from "../../../domain/accounts/account.js";
import { openPasswordLink, PASSWORD_LINKS_MAX, parsePasswordLinkToken } from "../../../domain/accounts/password.js";

it("a password link is valid for an hour, and five of one address at the same time", () => {
  const link = { tokenSha256: "ab".repeat(32), email: "owner@example.com" as Email };
  expect(openPasswordLink(link.email, link.tokenSha256, noon)).toEqual({
    ...link,
    expiresAt: secondsAfter(noon, 3_600),
  });
  expect(PASSWORD_LINKS_MAX).toBe(5);
});

it("parsePasswordLinkToken returns undefined for a malformed token", () => {
  for (const token of ["A-_z".repeat(8), "x".repeat(22), "x".repeat(64)])
    expect(parsePasswordLinkToken(token)).toBe(token);
  for (const text of ["", "x".repeat(21), "x".repeat(65), `${"x".repeat(43)}=`, ` ${"x".repeat(43)}`]) {
    expect(parsePasswordLinkToken(text)).toBeUndefined();
  }
});
