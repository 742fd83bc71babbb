import { expect, it } from "vitest";
import { accountId, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { isLive, openSession, SESSION_SECONDS } from "../../../domain/accounts/session.js";

it("a session stores the digest of its token, and expires after exactly 30 days", () => {
  const session = openSession(accountId(1), "ab".repeat(32), noon);
  const expiresAt = secondsAfter(noon, 2_592_000);
  expect(session).toEqual({ accountId: accountId(1), tokenSha256: "ab".repeat(32), createdAt: noon, expiresAt });
  expect(SESSION_SECONDS).toBe(2_592_000);
  expect([secondsAfter(expiresAt, -0.001), expiresAt].map((now) => isLive(session, now))).toEqual([true, false]);
});
