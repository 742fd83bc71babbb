import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionStore } from "../../../application/ports/session-store.js";
import { openSession, SESSION_SECONDS } from "../../../domain/session.js";
import { accountId, anAccount, noon, secondsAfter } from "../builders.js";
import type { Stores } from "./stores.js";

/** What every SessionStore must do (application/ports/session-store.ts). */
export const describeSessionStore = (technology: string, makeStores: () => Promise<Stores>) =>
  describe(`SessionStore ${technology}`, () => {
    const first = openSession(accountId(1), "1".repeat(64), noon);
    const second = openSession(accountId(1), "2".repeat(64), secondsAfter(noon, 1));
    let stores: Stores;
    let sessions: SessionStore;

    beforeEach(async () => {
      stores = await makeStores();
      ({ sessions } = stores);
      await stores.accounts.open(anAccount(), undefined, undefined, undefined);
      await sessions.insert(first);
      await sessions.insert(second);
    });
    afterEach(() => stores.close());

    it("finds a session by the digest of its token", async () => {
      expect(await sessions.find(first.tokenSha256)).toEqual(first);
      expect(await sessions.find(second.tokenSha256)).toEqual(second);
      expect(await sessions.find("3".repeat(64))).toBeUndefined();
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
