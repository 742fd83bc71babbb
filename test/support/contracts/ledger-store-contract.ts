import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { credits } from "../../../domain/credits.js";
import type { LedgerCursor } from "../../../domain/ledger.js";
import { openTask } from "../../../domain/task.js";
import { accountId, anAccount, aPaidOrder, aPendingOrder, aReservedTask, noon, orderId } from "../builders.js";
import type { Stores } from "./stores.js";

/** What every LedgerStore must do (application/ports/ledger-store.ts). */
export const describeLedgerStore = (technology: string, makeStores: () => Promise<Stores>) =>
  describe(`LedgerStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    let stores: Stores;

    beforeEach(async () => {
      stores = await makeStores();
    });
    afterEach(() => stores.close());

    const all = async () => {
      const ledgers = [];
      for await (const ledger of stores.ledger.all()) ledgers.push(ledger);
      return ledgers;
    };

    it("throws when it is asked for the balance of an unknown account", async () => {
      await expect(stores.ledger.balance(other)).rejects.toThrow(other);
    });

    it("returns the standing, entries and tasks of every account", async () => {
      const { accounts, tasks, ledger } = stores;
      expect(await all()).toEqual([]);
      await accounts.open(anAccount(), undefined, aPaidOrder(), undefined);
      await accounts.open(anAccount({ id: other }), undefined, undefined, undefined);
      const task = aReservedTask();
      await tasks.open(owner, noon, undefined, (standing) => openTask(standing, task, noon));
      expect(await all()).toEqual([
        {
          standing: { accountId: owner, credits: 96, activeTasks: 1 },
          entries: await ledger.entries(owner),
          tasks: [task],
        },
        { standing: { accountId: other, credits: 0, activeTasks: 0 }, entries: [], tasks: [] },
      ]);
      expect((await ledger.entries(owner)).map(({ kind }) => kind)).toEqual(["purchase", "reservation"]);
    });

    it("lists an account's entries in pages, newest first", async () => {
      const { accounts, orders, ledger } = stores;
      for (const id of [owner, other]) await accounts.open(anAccount({ id }), undefined, undefined, undefined);
      for (let n = 1; n <= 5; n += 1) {
        for (const [id, accountId] of [
          [orderId(n), owner],
          [orderId(100 + n), other],
        ] as const) {
          await orders.insert(aPendingOrder({ id, accountId, credits: credits(n) }));
          await orders.pay(aPaidOrder({ id, accountId, credits: credits(n) }));
        }
      }
      const pages: number[][] = [];
      for (let before: LedgerCursor | undefined; ; ) {
        const lines = await ledger.list(owner, 2, before);
        if (lines.length === 0) break;
        expect(lines.every(({ entry }) => entry.accountId === owner)).toBe(true);
        pages.push(lines.map(({ entry }) => entry.credits));
        before = lines.at(-1)?.cursor;
      }
      expect(pages).toEqual([[5, 4], [3, 2], [1]]);
      const all = (await ledger.list(owner, 9, undefined)).map(({ entry }) => entry);
      expect(all.toReversed()).toEqual(await ledger.entries(owner));
    });
  });
