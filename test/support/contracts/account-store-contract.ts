import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { notFound } from "../../../application/errors.js";
import type { AccountStore } from "../../../application/ports/account-store.js";
import type { TaskStore } from "../../../application/ports/task-store.js";
import type { Email } from "../../../domain/account.js";
import { credits } from "../../../domain/credits.js";
import { pay } from "../../../domain/order.js";
import { openTask } from "../../../domain/task.js";
import {
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  aPendingOrder,
  apiKeyId,
  aReservedTask,
  noon,
  orderId,
  secondsAfter,
} from "../builders.js";
import type { Stores } from "./task-store-contract.js";

/** What every store of accounts must do (application/ports/account-store.ts). */
export const describeAccountStore = (name: string, makeStores: () => Promise<Stores>) =>
  describe(`the account store: ${name}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    let stores: Stores;
    let accounts: AccountStore;
    let tasks: TaskStore;

    beforeEach(async () => {
      stores = await makeStores();
      ({ accounts, tasks } = stores);
    });
    afterEach(() => stores.close());

    const open = (id = owner) => accounts.open(anAccount({ id }), undefined, undefined, undefined);
    const ledger = async () => {
      const all = [];
      for await (const book of accounts.ledgers()) all.push(book);
      return all;
    };

    describe("opening an account", () => {
      it("stores a bare account, without credits", async () => {
        expect(await accounts.isEmpty()).toBe(true);
        expect(await accounts.exists(owner)).toBe(false);
        expect(await open()).toEqual(ok(undefined));
        expect(await accounts.isEmpty()).toBe(false);
        expect(await accounts.exists(owner)).toBe(true);
        expect(await accounts.exists(other)).toBe(false);
        expect(await accounts.credits(owner)).toBe(0);
        expect(await accounts.ledger(owner)).toEqual([]);
        expect(await accounts.countPaidOrders(owner)).toBe(0);
        expect(await accounts.listKeys(owner)).toEqual([]);
      });

      it("stores an account with its order, the order's credits and a key at once", async () => {
        const order = aPaidOrder({ paidAt: secondsAfter(noon, 5) });
        const key = anApiKey();
        expect(await accounts.open(anAccount(), "scrypt$1$salt$hash", order, key)).toEqual(ok(undefined));
        expect(await accounts.credits(owner)).toBe(100);
        expect(await accounts.ledger(owner)).toEqual([
          { kind: "purchase", accountId: owner, orderId: order.id, credits: 100, at: secondsAfter(noon, 5) },
        ]);
        expect(await accounts.findOrder(order.id)).toEqual(order);
        expect(await accounts.countPaidOrders(owner)).toBe(1);
        expect(await accounts.findKey(key.secretSha256)).toEqual(key);
      });

      it("finds an account by its id and, with its password's hash, by its e-mail address", async () => {
        await accounts.open(anAccount(), "scrypt$1$salt$hash", undefined, undefined);
        await accounts.open(anAccount({ id: other }), undefined, undefined, undefined);
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

      it("lists an account's orders, newest first, and nobody else's", async () => {
        await open();
        await open(other);
        const pending = aPendingOrder({ id: orderId(2) });
        await accounts.insertOrder(aPendingOrder());
        await accounts.insertOrder(pending);
        await accounts.insertOrder(aPendingOrder({ id: orderId(3), accountId: other }));
        await accounts.payOrder(aPaidOrder());
        expect(await accounts.listOrders(owner)).toEqual([pending, aPaidOrder()]);
      });

      it("refuses an e-mail address that is taken, and stores nothing of the second account", async () => {
        const email = "somebody@example.com" as Email;
        await accounts.open(anAccount({ email }), undefined, undefined, undefined);
        const second = anAccount({ id: other, email });
        const refused = accounts.open(
          second,
          undefined,
          aPaidOrder({ accountId: other }),
          anApiKey({ accountId: other }),
        );
        expect(await refused).toEqual(err({ kind: "email_taken", email }));
        expect(await accounts.exists(other)).toBe(false);
        expect(await accounts.findOrder(orderId(1))).toBeUndefined();
        expect(await accounts.findKey(anApiKey().secretSha256)).toBeUndefined();
      });

      it("gives an address to one of many who want it at once", async () => {
        const email = "somebody@example.com" as Email;
        const openings = [1, 2, 3, 4, 5].map((n) =>
          accounts.open(anAccount({ id: accountId(n), email }), undefined, undefined, undefined),
        );
        expect((await Promise.all(openings)).filter((result) => result.isOk())).toHaveLength(1);
      });
    });

    it("throws when it is asked about an account that does not exist", async () => {
      await expect(accounts.credits(other)).rejects.toThrow(other);
      await expect(accounts.insertOrder(aPendingOrder({ accountId: other }))).rejects.toThrow();
      await expect(accounts.insertKey(anApiKey({ accountId: other }))).rejects.toThrow();
    });

    describe("an order", () => {
      const pending = aPendingOrder({ credits: credits(7) });
      const paid = pay(pending, secondsAfter(noon, 60))._unsafeUnwrap();

      it("adds no credits while it is pending", async () => {
        await open();
        await accounts.insertOrder(pending);
        expect(await accounts.findOrder(pending.id)).toEqual(pending);
        expect(await accounts.findOrder(orderId(99))).toBeUndefined();
        expect(await accounts.credits(owner)).toBe(0);
        expect(await accounts.countPaidOrders(owner)).toBe(0);
      });

      it("adds its credits when it is paid", async () => {
        await open();
        await accounts.insertOrder(pending);
        await accounts.payOrder(paid);
        expect(await accounts.findOrder(pending.id)).toEqual(paid);
        expect(await accounts.credits(owner)).toBe(7);
        expect(await accounts.countPaidOrders(owner)).toBe(1);
        expect(await accounts.ledger(owner)).toEqual([
          { kind: "purchase", accountId: owner, orderId: pending.id, credits: 7, at: secondsAfter(noon, 60) },
        ]);
      });

      it("adds its credits once, however often and at once it is paid", async () => {
        await open();
        await accounts.insertOrder(pending);
        await accounts.payOrder(paid);
        await Promise.all(Array.from({ length: 10 }, () => accounts.payOrder({ ...paid, paidAt: noon })));
        expect(await accounts.findOrder(pending.id)).toEqual(paid);
        expect(await accounts.credits(owner)).toBe(7);
        expect(await accounts.ledger(owner)).toHaveLength(1);
      });

      it("is counted for its own account only", async () => {
        await open();
        await open(other);
        await accounts.insertOrder(pending);
        await accounts.payOrder(paid);
        expect(await accounts.countPaidOrders(other)).toBe(0);
        expect(await accounts.credits(other)).toBe(0);
        expect(await accounts.ledger(other)).toEqual([]);
      });
    });

    describe("a key", () => {
      it("is found by the digest of its secret until it is revoked", async () => {
        await open();
        const key = anApiKey({ name: `laptop "2" 'ä' ? \\ 🌄` });
        await accounts.insertKey(key);
        expect(await accounts.findKey(key.secretSha256)).toEqual(key);
        expect(await accounts.findKey("f".repeat(64))).toBeUndefined();
        expect(await accounts.revokeKey(key.id, secondsAfter(noon, 1))).toEqual(ok(undefined));
        expect(await accounts.findKey(key.secretSha256)).toBeUndefined();
        expect(await accounts.listKeys(owner)).toEqual([{ ...key, revokedAt: secondsAfter(noon, 1) }]);
      });

      it("keeps the date of its first revocation", async () => {
        await open();
        await accounts.insertKey(anApiKey());
        await accounts.revokeKey(apiKeyId(1), noon);
        expect(await accounts.revokeKey(apiKeyId(1), secondsAfter(noon, 9))).toEqual(ok(undefined));
        expect(await accounts.listKeys(owner)).toEqual([anApiKey({ revokedAt: noon })]);
      });

      it("cannot be revoked if there is none", async () => {
        expect(await accounts.revokeKey(apiKeyId(9), noon)).toEqual(err(notFound(`There is no key ${apiKeyId(9)}.`)));
      });

      it("is listed with its account's others, oldest first", async () => {
        await open();
        await open(other);
        for (const n of [2, 3, 1]) await accounts.insertKey(anApiKey({ id: apiKeyId(n) }));
        await accounts.insertKey(anApiKey({ id: apiKeyId(4), accountId: other }));
        expect((await accounts.listKeys(owner)).map(({ id }) => id)).toEqual([1, 2, 3].map(apiKeyId));
      });
    });

    it("opens the ledger of every account", async () => {
      expect(await ledger()).toEqual([]);
      await accounts.open(anAccount(), undefined, aPaidOrder(), undefined);
      await open(other);
      const task = aReservedTask();
      await tasks.open(owner, noon, undefined, (standing) => openTask(standing, task, noon));
      expect(await ledger()).toEqual([
        {
          standing: { accountId: owner, credits: 96, activeTasks: 1 },
          entries: await accounts.ledger(owner),
          tasks: [task],
        },
        { standing: { accountId: other, credits: 0, activeTasks: 0 }, entries: [], tasks: [] },
      ]);
      expect((await accounts.ledger(owner)).map(({ kind }) => kind)).toEqual(["purchase", "reservation"]);
    });
  });
