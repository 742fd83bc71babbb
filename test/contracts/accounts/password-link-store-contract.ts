import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountId, anAccount, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../../adapters/contracts/support/in-changing-zones.js";
import type { PasswordLinkStore } from "../../../application/ports/stores/account-stores.js";
import type { Email } from "../../../domain/accounts/account.js";
import { openPasswordLink, PASSWORD_LINK_SECONDS } from "../../../domain/accounts/password.js";
import { openSession } from "../../../domain/accounts/session.js";
import { credits } from "../../../domain/credits/credits.js";
import { welcomeEntry } from "../../../domain/credits/ledger.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Stores } from "../stores.js";

/** What every PasswordLinkStore must do (application/ports/stores/account-stores.ts). */
export const describePasswordLinkStore = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "ledger" | "links" | "sessions" | "close">>,
) =>
  describe(`PasswordLinkStore ${technology}`, () => {
    const email = anAccount().email;
    const expiry = secondsAfter(noon, PASSWORD_LINK_SECONDS);
    const digest = (n: number) => String(n).padStart(64, "0");
    let stores: Pick<Stores, "accounts" | "ledger" | "links" | "sessions" | "close">;
    let links: PasswordLinkStore;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
      ({ links } = stores);
    });
    afterEach(() => stores.close());

    const insert = (n: number, to: Email = email, now = noon) =>
      links.insert(openPasswordLink(to, digest(n), now), now, 3);

    it("finds a link by the digest of its token until it expires", async () => {
      expect(await insert(1)).toBe(true);
      expect(await links.find(digest(1), noon)).toBe(email);
      expect(await links.find(digest(1), secondsAfter(expiry, -0.001))).toBe(email);
      expect(await links.find(digest(1), expiry)).toBeUndefined();
      expect(await links.find(digest(2), noon)).toBeUndefined();
    });

    it("stores at most liveMax links of one e-mail address that have not expired", async () => {
      for (const n of [1, 2, 3]) expect(await insert(n)).toBe(true);
      expect(await insert(4)).toBe(false);
      expect(await links.find(digest(4), noon)).toBeUndefined();
      const unlimited = openPasswordLink(email, digest(7), noon);
      expect(await links.insert(unlimited, noon, Number.MAX_SAFE_INTEGER)).toBe(true);
      expect(await insert(5, "other@example.com" as Email)).toBe(true);
      expect(await insert(6, email, expiry)).toBe(true);
      expect(await links.find(digest(1), noon)).toBeUndefined(); // expired links are deleted
    });

    it("stores exactly liveMax links of 13 that are asked for at once", async () => {
      const asked = Array.from({ length: 13 }, (_, n) =>
        links.insert(openPasswordLink(email, digest(n), noon), noon, 5),
      );
      expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(5);
    });

    it("redeem sets the password of the account, ends its sessions and deletes all its links", async () => {
      const { accounts, sessions } = stores;
      const bystander = anAccount({ id: accountId(2) });
      for (const account of [anAccount(), bystander]) {
        await accounts.open(account, { passwordHash: "old hash" });
        await sessions.insert(openSession(account.id, digest(Number(account.id.slice(-1))), noon), "old hash");
      }
      await insert(1);
      await insert(2);
      await insert(3, bystander.email);
      expect(await links.redeem(digest(1), { passwordHash: "new hash", newAccountId: accountId(9) }, noon)).toEqual(
        ok(accountId(1)),
      );
      expect(await accounts.findByEmail(email)).toMatchObject({ account: anAccount(), passwordHash: "new hash" });
      expect(await sessions.find(digest(1))).toBeUndefined();
      expect(await links.redeem(digest(2), { passwordHash: "third hash", newAccountId: accountId(9) }, noon)).toEqual(
        err({ kind: "link_expired" }),
      );
      expect(await accounts.exists(accountId(9))).toBe(false);
      expect(await accounts.findByEmail(bystander.email)).toMatchObject({ passwordHash: "old hash" });
      expect(await sessions.find(digest(2))).toMatchObject({ accountId: bystander.id });
      expect(await links.find(digest(3), noon)).toBe(bystander.email);
    });

    it("redeem opens an account for an address that has none, and begins only its ledger with the given entry", async () => {
      const { accounts, ledger } = stores;
      const welcome = (id: AccountId) => welcomeEntry(id, credits(12), noon);
      const set = (newAccountId: AccountId) => ({ passwordHash: "hash", newAccountId, welcome: welcome(newAccountId) });
      await accounts.open(anAccount(), { passwordHash: "old hash" });
      await insert(1);
      const fresh = "new@example.com" as Email;
      await insert(2, fresh);
      const [known, opened, now] = [accountId(1), accountId(9), secondsAfter(noon, 60)];
      expect(await links.redeem(digest(1), set(accountId(8)), noon)).toEqual(ok(known));
      expect([await ledger.balance(known), await ledger.entries(known)]).toEqual([0, []]);
      expect(await links.redeem(digest(2), set(opened), now)).toEqual(ok(opened));
      expect(await accounts.findByEmail(fresh)).toMatchObject({
        account: { id: opened, email: fresh, createdAt: now },
        passwordHash: "hash",
      });
      expect([await ledger.balance(opened), await ledger.entries(opened)]).toEqual([12, [welcome(opened)]]);
    });

    it("redeem refuses an expired and an unknown link, and changes nothing", async () => {
      await stores.accounts.open(anAccount(), { passwordHash: "old hash" });
      await insert(1);
      for (const [n, now] of [[1, expiry] as const, [2, noon] as const]) {
        expect(await links.redeem(digest(n), { passwordHash: "new hash", newAccountId: accountId(9) }, now)).toEqual(
          err({ kind: "link_expired" }),
        );
      }
      expect(await stores.accounts.findByEmail(email)).toMatchObject({ passwordHash: "old hash" });
    });

    it("confirmEmail gives the account the address of the link, and deletes the links of both addresses", async () => {
      const { accounts, sessions } = stores;
      const next = "next@example.com" as Email;
      const bystander = anAccount({ id: accountId(2) });
      await accounts.open(anAccount(), { passwordHash: "hash" });
      await accounts.open(bystander, { passwordHash: "hash" });
      await sessions.insert(openSession(accountId(1), digest(1), noon), "hash");
      for (const [n, to] of [email, next, next, bystander.email].entries()) await insert(n, to);

      expect(await links.confirmEmail(digest(2), accountId(1), noon)).toEqual(ok(email));
      expect(await accounts.find(accountId(1))).toEqual(anAccount({ email: next }));
      expect(await accounts.findByEmail(next)).toMatchObject({ passwordHash: "hash" });
      expect(await accounts.findByEmail(email)).toBeUndefined();
      expect(await sessions.find(digest(1))).toMatchObject({ accountId: accountId(1) });
      for (const n of [0, 1, 2]) expect(await links.find(digest(n), noon)).toBeUndefined();
      expect(await links.find(digest(3), noon)).toBe(bystander.email);
      expect(await accounts.open(anAccount({ id: accountId(3), email }))).toEqual(ok(undefined));
    });

    it("confirmEmail changes nothing with an expired or unknown link, and if the address is taken", async () => {
      const { accounts } = stores;
      const taken = anAccount({ id: accountId(2) });
      await accounts.open(anAccount());
      await insert(1, taken.email);
      for (const [n, now] of [[1, expiry] as const, [2, noon] as const]) {
        expect(await links.confirmEmail(digest(n), accountId(1), now)).toEqual(err({ kind: "link_expired" }));
      }
      await accounts.open(taken);
      await insert(4, taken.email);
      expect(await links.confirmEmail(digest(4), accountId(1), noon)).toEqual(
        err({ kind: "email_taken", email: taken.email }),
      );
      expect((await accounts.find(accountId(1)))?.email).toBe(email);
      expect(await links.find(digest(4), noon)).toBe(taken.email);
      await expect(links.confirmEmail(digest(4), accountId(9), noon)).rejects.toThrow(accountId(9));
    });

    it("confirmEmail gives an address to one of two accounts that confirm it at the same time", async () => {
      const { accounts } = stores;
      const wanted = "wanted@example.com" as Email;
      for (const n of [1, 2]) {
        await accounts.open(anAccount({ id: accountId(n), email: `n${n}@example.com` as Email }));
        await insert(n, wanted);
      }
      const attempts = [1, 2, 1, 2].map((n) => links.confirmEmail(digest(n), accountId(n), noon));
      const winners = (await Promise.all(attempts)).filter((result) => result.isOk());
      expect(winners).toHaveLength(1);
      const owner = (await accounts.findByEmail(wanted))?.account.id;
      expect(winners[0]?._unsafeUnwrap()).toBe(owner === accountId(1) ? "n1@example.com" : "n2@example.com");
    });

    it("redeem succeeds once of eight concurrent attempts with the links of one address", async () => {
      await insert(1);
      await insert(2);
      const attempts = Array.from({ length: 8 }, (_, n) =>
        links.redeem(
          digest(1 + (n % 2)),
          {
            passwordHash: `hash ${n}`,
            newAccountId: accountId(10 + n),
            welcome: welcomeEntry(accountId(10 + n), credits(12), noon),
          },
          noon,
        ),
      );
      const winners = (await Promise.all(attempts)).filter((result) => result.isOk());
      expect(winners).toHaveLength(1);
      const found = await stores.accounts.findByEmail(email);
      const winner = winners[0]?._unsafeUnwrap() ?? accountId(0);
      expect(found?.account.id).toBe(winner);
      expect(await stores.ledger.balance(winner)).toBe(12);
      expect(await stores.ledger.entries(winner)).toHaveLength(1);
    });
  });
