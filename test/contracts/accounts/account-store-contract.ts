import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  aSubmittingTask,
  noon,
  openATask,
  orderId,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../../adapters/contracts/support/in-changing-zones.js";
import { notFound } from "../../../application/errors.js";
import type { Email } from "../../../domain/accounts/account.js";
import { openPasswordLink } from "../../../domain/accounts/password.js";
import { openSession } from "../../../domain/accounts/session.js";
import { credits } from "../../../domain/credits/credits.js";
import { welcomeEntry } from "../../../domain/credits/ledger.js";
import type { Stores } from "../stores.js";

/** What every AccountStore must do (application/ports/stores/account-stores.ts). */
export const describeAccountStore = (
  technology: string,
  makeStores: () => Promise<
    Pick<Stores, "accounts" | "keys" | "ledger" | "links" | "orders" | "sessions" | "tasks" | "close">
  >,
) =>
  describe(`AccountStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    let stores: Pick<Stores, "accounts" | "keys" | "ledger" | "links" | "orders" | "sessions" | "tasks" | "close">;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
    });
    afterEach(() => stores.close());

    const open = (id = owner) => stores.accounts.open(anAccount({ id }));

    it("opens an account without credits, orders and keys", async () => {
      const { accounts, ledger, orders, keys } = stores;
      expect(await accounts.isEmpty()).toBe(true);
      expect(await accounts.exists(owner)).toBe(false);
      expect(await open()).toEqual(ok(undefined));
      expect(await accounts.isEmpty()).toBe(false);
      expect(await accounts.exists(owner)).toBe(true);
      expect(await accounts.exists(other)).toBe(false);
      expect(await ledger.balance(owner)).toBe(0);
      expect(await ledger.entries(owner)).toEqual([]);
      expect(await orders.countPaid(owner)).toBe(0);
      expect(await keys.list(owner)).toEqual([]);
    });

    it("opens an account together with a paid order, its credits and a key", async () => {
      const { accounts, ledger, orders, keys } = stores;
      const order = aPaidOrder({ paidAt: secondsAfter(noon, 5) });
      const key = anApiKey();
      expect(await accounts.open(anAccount(), { passwordHash: "scrypt$1$salt$hash", order, key })).toEqual(
        ok(undefined),
      );
      expect(await ledger.balance(owner)).toBe(100);
      expect(await ledger.entries(owner)).toEqual([
        { kind: "purchase", accountId: owner, orderId: order.id, credits: 100, at: secondsAfter(noon, 5) },
      ]);
      expect(await orders.find(order.id)).toEqual(order);
      expect(await orders.countPaid(owner)).toBe(1);
      expect(await keys.list(owner)).toEqual([key]);
    });

    it("replacePassword needs the current hash, and ends the sessions and links of this account", async () => {
      const { accounts, sessions, links } = stores;
      const bystander = anAccount({ id: other });
      const digest = (n: number) => String(n).padStart(64, "0");
      for (const [n, account] of [anAccount(), bystander].entries()) {
        await accounts.open(account, { passwordHash: "old hash" });
        await sessions.insert(openSession(account.id, digest(n), noon), "old hash");
        await links.insert(openPasswordLink(account.email, digest(n), noon), noon, 9);
      }
      for (const [id, current] of [[owner, "another hash"] as const, [accountId(9), "old hash"] as const]) {
        expect(await accounts.replacePassword(id, current, "new hash")).toBe(false);
      }
      expect(await accounts.findByEmail(anAccount().email)).toMatchObject({ passwordHash: "old hash" });
      expect(await sessions.find(digest(0))).toMatchObject({ accountId: owner });

      const attempts = ["first", "second", "third"].map((hash) => accounts.replacePassword(owner, "old hash", hash));
      expect((await Promise.all(attempts)).filter(Boolean)).toEqual([true]);
      expect((await accounts.findByEmail(anAccount().email))?.passwordHash).toMatch(/^(first|second|third)$/);
      expect(await sessions.find(digest(0))).toBe(undefined);
      expect(await links.find(digest(0), noon)).toBe(undefined);
      expect(await accounts.findByEmail(bystander.email)).toMatchObject({ passwordHash: "old hash" });
      expect(await sessions.find(digest(1))).toMatchObject({ accountId: other });
      expect(await links.find(digest(1), noon)).toBe(bystander.email);
    });

    it("opens an account with the entry that it begins with, and with a paid order besides", async () => {
      const { accounts, ledger, orders } = stores;
      const welcome = welcomeEntry(owner, credits(12), noon);
      expect(await accounts.open(anAccount(), { welcome })).toEqual(ok(undefined));
      expect(await ledger.balance(owner)).toBe(12);
      expect(await ledger.entries(owner)).toEqual([
        { kind: "adjustment", accountId: owner, reason: "Welcome credits", credits: 12, at: noon },
      ]);
      expect(await orders.countPaid(owner)).toBe(0);
      const both = welcomeEntry(other, credits(12), noon);
      const order = aPaidOrder({ accountId: other });
      await accounts.open(anAccount({ id: other }), { order, welcome: both });
      expect(await ledger.balance(other)).toBe(112);
      expect((await ledger.entries(other)).map(({ kind }) => kind).sort()).toEqual(["adjustment", "purchase"]);
    });

    it("stores the threshold of a low balance, passes it to the decision about a task, and removes it", async () => {
      const { accounts, tasks } = stores;
      await accounts.open(anAccount(), { order: aPaidOrder() });
      expect(await accounts.lowBalance(owner)).toBeUndefined();
      const seen: unknown[] = [];
      const open = async (n: number) => {
        const task = aSubmittingTask({ id: taskId(n) });
        const opened = await tasks.open({
          account: owner,
          dueAt: noon,
          decide: (standing) => {
            seen.push(standing.lowBalanceThreshold);
            return openATask(standing, task, noon);
          },
        });
        opened._unsafeUnwrap();
      };
      await open(1);
      expect(await accounts.setLowBalance(owner, credits(90))).toEqual(ok(undefined));
      expect(await accounts.lowBalance(owner)).toBe(90);
      await open(2);
      await open(3); // 88 are left
      expect(await accounts.setLowBalance(owner, undefined)).toEqual(ok(undefined));
      expect(await accounts.lowBalance(owner)).toBeUndefined();
      await open(4);
      expect(seen).toEqual([undefined, 90, 90, undefined]);
      expect(await stores.ledger.balance(owner)).toBe(84);
    });

    it("returns not_found for the threshold of an unknown account, and throws when it reads it", async () => {
      const { accounts } = stores;
      expect(await accounts.setLowBalance(other, credits(1))).toEqual(err(notFound(`There is no account ${other}.`)));
      await expect(accounts.lowBalance(other)).rejects.toThrow(other);
    });

    it("finds an account by its id, and by its e-mail address together with its password hash", async () => {
      const { accounts } = stores;
      await accounts.open(anAccount(), { passwordHash: "scrypt$1$salt$hash" });
      await open(other);
      expect(await accounts.find(owner)).toEqual(anAccount());
      expect(await accounts.find(accountId(3))).toBeUndefined();
      const [first, second] = [anAccount(), anAccount({ id: other })];
      expect(await accounts.findByEmail(first.email)).toMatchObject({
        account: first,
        passwordHash: "scrypt$1$salt$hash",
      });
      expect(await accounts.findByEmail(second.email)).toMatchObject({ account: second, passwordHash: undefined });
      expect(await accounts.findByEmail("nobody@example.com" as Email)).toBeUndefined();
    });

    it("refuses a taken e-mail address and stores nothing of the second account", async () => {
      const { accounts, orders, keys } = stores;
      const email = "somebody@example.com" as Email;
      await accounts.open(anAccount({ email }));
      const second = anAccount({ id: other, email });
      const refused = accounts.open(second, {
        order: aPaidOrder({ accountId: other }),
        key: anApiKey({ accountId: other }),
      });
      expect(await refused).toEqual(err({ kind: "email_taken", email }));
      expect(await accounts.exists(other)).toBe(false);
      expect(await orders.find(orderId(1))).toBeUndefined();
      expect(await keys.list(other)).toEqual([]);
    });

    it("opens one account out of five concurrent requests for the same e-mail address, with one welcome", async () => {
      const { accounts, ledger } = stores;
      const email = "somebody@example.com" as Email;
      const openings = [1, 2, 3, 4, 5].map((n) => {
        const id = accountId(n);
        return accounts.open(anAccount({ id, email }), { welcome: welcomeEntry(id, credits(12), noon) });
      });
      expect((await Promise.all(openings)).filter((result) => result.isOk())).toHaveLength(1);
      const entries = await Promise.all([1, 2, 3, 4, 5].map((n) => ledger.entries(accountId(n))));
      expect(entries.flat().map(({ credits: amount }) => amount)).toEqual([12]);
      expect(await ledger.balance((await accounts.findByEmail(email))?.account.id ?? accountId(0))).toBe(12);
    });
  });
