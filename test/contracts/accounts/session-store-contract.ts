import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountId, anAccount, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../../adapters/contracts/support/in-changing-zones.js";
import type { SessionStore } from "../../../application/ports/stores/account-stores.js";
import type { Email } from "../../../domain/accounts/account.js";
import { openSession, SESSION_SECONDS, SESSIONS_MAX } from "../../../domain/accounts/session.js";
import type { Stores } from "../stores.js";

/** What every SessionStore must do (application/ports/stores/account-stores.ts). */
export const describeSessionStore = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "sessions" | "close">>,
) =>
  describe(`SessionStore ${technology}`, () => {
    const first = openSession(accountId(1), "1".repeat(64), noon);
    const second = openSession(accountId(1), "2".repeat(64), secondsAfter(noon, 1));
    let stores: Pick<Stores, "accounts" | "sessions" | "close">;
    let sessions: SessionStore;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      ({ sessions } = stores);
      await stores.accounts.open(anAccount(), { passwordHash: "the hash" });
      expect(await sessions.insert(first, "the hash")).toBe(true);
      expect(await sessions.insert(second, "the hash")).toBe(true);
    });
    afterEach(() => stores.close());

    it("stores no session for a login with a password that the account no longer has, or never had", async () => {
      const late = openSession(accountId(1), "3".repeat(64), noon);
      expect(await sessions.insert(late, "an older hash")).toBe(false);
      expect(await sessions.insert(openSession(accountId(2), late.tokenSha256, noon), "the hash")).toBe(false);
      await stores.accounts.open(anAccount({ id: accountId(3) }));
      expect(await sessions.insert(openSession(accountId(3), late.tokenSha256, noon), "the hash")).toBe(false);
      expect(await sessions.find(late.tokenSha256)).toBeUndefined();
    });

    it("keeps no session of the old password when logins and a change of the password are concurrent", async () => {
      const tokens = Array.from({ length: 12 }, (_, n) => `a${n}`.padStart(64, "0"));
      const login = (token: string) => sessions.insert(openSession(accountId(1), token, noon), "the hash");
      await Promise.all([
        ...tokens.slice(0, 6).map(login),
        stores.accounts.replacePassword(accountId(1), "the hash", "another hash"),
        ...tokens.slice(6).map(login),
      ]);
      for (const token of [...tokens, first.tokenSha256]) expect(await sessions.find(token)).toBeUndefined();
    });

    it("ends the oldest sessions of an account that has too many, and none of another account", async () => {
      await stores.accounts.open(anAccount({ id: accountId(2), email: "other@example.com" as Email }), {
        passwordHash: "the hash",
      });
      const token = (n: number) => `c${n}`.padStart(64, "0");
      await sessions.insert(openSession(accountId(2), token(0), secondsAfter(noon, -99)), "the hash");
      for (let n = 1; n < SESSIONS_MAX; n += 1) {
        await sessions.insert(openSession(accountId(1), token(n), secondsAfter(noon, 1 + n)), "the hash");
      }
      expect(await sessions.find(first.tokenSha256)).toBeUndefined();
      for (const kept of [second.tokenSha256, token(0), token(1), token(SESSIONS_MAX - 1)]) {
        expect((await sessions.find(kept))?.tokenSha256).toBe(kept);
      }
    });

    it("keeps exactly the maximum of sessions when 20 more begin at once", async () => {
      const token = (n: number) => `d${n}`.padStart(64, "0");
      const login = (n: number) =>
        sessions.insert(openSession(accountId(1), token(n), secondsAfter(noon, 9 + n)), "the hash");
      for (let n = 0; n < SESSIONS_MAX - 2; n += 1) await login(n);
      await Promise.all(Array.from({ length: 20 }, (_, n) => login(SESSIONS_MAX + n)));
      const tokens = [first.tokenSha256, second.tokenSha256];
      for (let n = 0; n < SESSIONS_MAX + 20; n += 1) tokens.push(token(n));
      const kept = await Promise.all(tokens.map((one) => sessions.find(one)));
      expect(kept.filter((session) => session !== undefined)).toHaveLength(SESSIONS_MAX);
    });

    it("deletes one session, also repeatedly, and keeps the others", async () => {
      await sessions.delete(first.tokenSha256);
      await sessions.delete(first.tokenSha256);
      expect(await sessions.find(first.tokenSha256)).toBeUndefined();
      expect(await sessions.find(second.tokenSha256)).toEqual(second);
    });

    it("deletes the expired sessions and keeps the others", async () => {
      await sessions.deleteExpired(secondsAfter(first.expiresAt, 0.5));
      expect(await sessions.find(first.tokenSha256)).toBeUndefined();
      expect(await sessions.find(second.tokenSha256)).toEqual(second);
      expect(second.expiresAt).toEqual(secondsAfter(noon, 1 + SESSION_SECONDS));
    });
  });
