import { describe, expect, it } from "vitest";
import { accountId, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { isLive, openSession, parseSessionToken, SESSION_SECONDS } from "../../../domain/accounts/session.js";

describe("a session", () => {
  const session = openSession(accountId(1), "ab".repeat(32), noon);

  it("stores the digest of its token, not the token", () => {
    const expiresAt = secondsAfter(noon, 2_592_000);
    expect(session).toEqual({ accountId: accountId(1), tokenSha256: "ab".repeat(32), createdAt: noon, expiresAt });
  });

  it("expires after exactly 30 days", () => {
    expect(SESSION_SECONDS).toBe(2_592_000);
    expect(isLive(session, secondsAfter(noon, SESSION_SECONDS - 0.001))).toBe(true);
    expect(isLive(session, secondsAfter(noon, SESSION_SECONDS))).toBe(false);
  });

  it("parses no token from malformed text", () => {
    const token = "A-_z".repeat(8);
    expect(parseSessionToken(token)).toBe(token);
    for (const text of ["", "x".repeat(21), "x".repeat(65), `${token}=`, `${token} `]) {
      expect(parseSessionToken(text)).toBeUndefined();
    }
  });
});
