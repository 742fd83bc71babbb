import { ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  aNativeSize,
  anAccount,
  anApiKey,
  anImageName,
  aPaidOrder,
  aPendingOrder,
  apiKeyId,
  aSubmittingTask,
  noon,
  openATask,
  orderId,
  taskId,
} from "../../adapters/contracts/support/builders.js";
import { inChangingZones } from "../../adapters/contracts/support/in-changing-zones.js";
import { type EntryLine, listEntries } from "../../application/list-entries.js";
import type { LedgerPart } from "../../application/ports/stores/ledger-store.js";
import { credits } from "../../domain/credits/credits.js";
import type { AuditedTask } from "../../domain/credits/ledger-audit.js";
import type { EntryPlace, LedgerCursor } from "../../domain/credits/ledger-page.js";
import type { Standing } from "../../domain/credits/standing.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { fail, finish, succeed } from "../../domain/tasks/task.js";
import type { Stores } from "./stores.js";
import { taskSteps } from "./task-steps.js";

/** What every LedgerStore must do (application/ports/stores/ledger-store.ts). */
export const describeLedgerStore = (
  technology: string,
  makeStores: () => Promise<Pick<Stores, "accounts" | "keys" | "ledger" | "orders" | "tasks" | "close">>,
) =>
  describe(`LedgerStore ${technology}`, () => {
    const owner = accountId(1);
    const other = accountId(2);
    let stores: Pick<Stores, "accounts" | "keys" | "ledger" | "orders" | "tasks" | "close">;

    beforeEach(async () => {
      stores = inChangingZones(await makeStores());
    });
    afterEach(() => stores.close());

    const steps = taskSteps(() => stores.tasks);
    const all = async () => {
      const ledgers = [];
      for await (const ledger of stores.ledger.all()) ledgers.push(ledger);
      return ledgers;
    };

    it("throws when it is asked for the balance of an unknown account", async () => {
      await expect(stores.ledger.balance(other)).rejects.toThrow(other);
    });

    it("returns the standing, entries and tasks of every account", async () => {
      const { accounts, ledger } = stores;
      expect(await all()).toEqual([]);
      await accounts.open(anAccount(), { order: aPaidOrder() });
      await accounts.open(anAccount({ id: other }));
      const task = await steps.open(aSubmittingTask());
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

    it("walks through the parts of every account, which are its whole ledger", async () => {
      const { accounts, ledger } = stores;
      await ledger.walk(() => expect("a part").toBe("none"));
      await accounts.open(anAccount(), { order: aPaidOrder() });
      await accounts.open(anAccount({ id: other }));
      const [refused] = [await steps.open(aSubmittingTask()), await steps.open(aSubmittingTask({ id: taskId(2) }))];
      await steps.failed(refused);
      const parts: LedgerPart[] = [];
      await ledger.walk((part) => parts.push(part));
      for (const account of await all()) {
        const { accountId } = account.standing;
        const own = parts.filter((part) => part.accountId === accountId);
        expect([own[0], own.at(-1)]).toMatchObject([{ kind: "standing", standing: account.standing }, { kind: "end" }]);
        const paid = own.flatMap((part) => (part.kind === "tasks" ? part.tasks : []));
        const shown = ({ id, state, reservation }: AuditedTask) => ({ id, state, reservation });
        expect(sorted(paid.map(shown))).toEqual(sorted(account.tasks.map(shown)));
        const ofTasks = own.flatMap((part) => (part.kind === "tasks" ? part.entries : []));
        const others = own.flatMap((part) => (part.kind === "entries" ? part.entries : []));
        expect(sorted(ofTasks)).toEqual(sorted(account.entries.filter((entry) => "taskId" in entry)));
        expect(others).toEqual(account.entries.filter((entry) => !("taskId" in entry)));
        const bought = own.flatMap((part) => (part.kind === "orders" ? part.orders : []));
        const { id, credits: given } = aPaidOrder();
        expect(bought.map((order) => [order.id, order.credits, order.takenBack ?? 0])).toEqual(
          accountId === owner ? [[id, given, 0]] : [],
        );
      }
    });

    it("totals returns remaining, reserved and spent credits", async () => {
      const { accounts, orders, tasks, ledger } = stores;
      await accounts.open(anAccount(), { order: aPaidOrder({ credits: credits(100) }) });
      await accounts.open(anAccount({ id: other }));
      expect(await ledger.totals(owner)).toEqual({ remaining: 100, reserved: 0, spent: 0 });
      await orders.insert(aPendingOrder({ id: orderId(2), credits: credits(50) }));
      await orders.pay(aPaidOrder({ id: orderId(2), credits: credits(50) }));
      await orders.insert(aPendingOrder({ id: orderId(3), credits: credits(7) }));
      expect(await ledger.totals(owner)).toEqual({ remaining: 150, reserved: 0, spent: 0 });

      const create = async (n: number, resolution: string) => {
        return steps.open(aSubmittingTask({ id: taskId(n), request: aCreationRequest({ resolution }) }));
      };
      const [active, finished, refused] = [await create(1, "1k"), await create(2, "2k"), await create(3, "4k")];
      expect(await ledger.totals(owner)).toEqual({ remaining: 130, reserved: 20, spent: 0 });
      const submitted = await steps.submitted(finished);
      const generated = await steps.move(submitted, finish(submitted, "https://p.example/2"), noon);
      expect(await ledger.totals(owner)).toEqual({ remaining: 130, reserved: 20, spent: 0 });
      await steps.move(generated, succeed(generated, anImageName(2), aNativeSize, noon), noon);
      expect(await ledger.totals(owner)).toEqual({ remaining: 130, reserved: 14, spent: 6 });
      await steps.failed(refused);
      expect(await ledger.totals(owner)).toEqual({ remaining: 140, reserved: active.reservation.credits, spent: 6 });
      (await tasks.delete(finished.id, owner, noon))._unsafeUnwrap();
      expect(await ledger.totals(owner)).toEqual({ remaining: 140, reserved: 4, spent: 6 });
      expect(await ledger.totals(other)).toEqual({ remaining: 0, reserved: 0, spent: 0 });
      await expect(ledger.totals(accountId(3))).rejects.toThrow(accountId(3));
    });

    it("lists entries with the account's balance and the key of their task", async () => {
      const { accounts, keys, ledger } = stores;
      await accounts.open(anAccount(), { order: aPaidOrder() });
      (await keys.insert(anApiKey(), () => ok(undefined)))._unsafeUnwrap();
      await steps.open(aSubmittingTask({ apiKeyId: apiKeyId(1) }));
      const lines = await ledger.list(owner, 9, undefined);
      expect(lines.map(({ entry, apiKeyId, balance }) => [entry.kind, apiKeyId, balance])).toEqual([
        ["reservation", apiKeyId(1), 96],
        ["purchase", undefined, 96],
      ]);
    });

    it("list keeps order and balances while entries are added", async () => {
      const { accounts, orders, tasks, ledger } = stores;
      await accounts.open(anAccount(), { order: aPaidOrder({ credits: credits(1000) }) });
      await accounts.open(anAccount({ id: other }));
      const seen: EntryLine[] = [];
      const readPages = async () => {
        for (let place: EntryPlace | undefined, pages = 0; pages < 4; pages += 1) {
          const { entries, next } = await listEntries(ledger, owner, 3, place);
          seen.push(...entries);
          place = next;
          if (next === undefined) break;
        }
      };
      const policy = { ...PANORAMA_POLICY, activeMax: 1000, rates: { write: { limit: 1000, windowSeconds: 60 } } };
      const writer = async (first: number) => {
        for (let n = first; n < first + 8; n += 1) {
          const task = aSubmittingTask({ id: taskId(n) });
          const decide = (standing: Standing) => openATask(standing, task, noon, { policy });
          (await tasks.open({ account: owner, dueAt: noon, decide }))._unsafeUnwrap();
          if (n % 2 === 0) (await tasks.move(task, fail(task, "canceled", noon), undefined))._unsafeUnwrap();
          const order = { id: orderId(n), credits: credits(n) };
          await orders.insert(aPendingOrder(order));
          await Promise.all([orders.pay(aPaidOrder(order)), readPages()]);
        }
      };
      await Promise.all([100, 200, 300, 400].map(writer));
      const all = await ledger.entries(owner);
      const balances = new Map<string, number>();
      let balance = 0;
      for (const entry of all) {
        balance += entry.credits;
        balances.set(JSON.stringify(entry), balance);
      }
      expect(all.length).toBe(1 + 4 * (8 + 4 + 8));
      for (const { entry, balanceAfter } of seen) expect(balanceAfter).toBe(balances.get(JSON.stringify(entry)));
      expect(seen.length > 100).toBe(true);
    });

    it("lists an account's entries in pages, newest first", async () => {
      const { accounts, orders, ledger } = stores;
      for (const id of [owner, other]) await accounts.open(anAccount({ id }));
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

const sorted = <T>(items: readonly T[]): T[] =>
  items.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
