import type { MeterChange, MeterQuery, MeterRecord, MeterStore } from "../../application/ports/stores/meter-store.js";
import { accountId } from "../../domain/account-id.js";
import { credits } from "../../domain/credits/credits.js";
import type { Hold } from "../../domain/credits/hold.js";
import { idempotencyKey } from "../../domain/credits/idempotency.js";
import { type LedgerCursor, type LedgerEntry, reservationEntry } from "../../domain/credits/ledger.js";
import { orderId } from "../../domain/credits/order.js";
import { capture, type HeldReservation } from "../../domain/credits/reservation.js";
import type { TaskId } from "../../domain/task-id.js";
import { HandClock } from "../memory/hand-clock.js";
import { secondsAfter } from "./support/builders.js";
import { expect } from "./support/expect.js";
import type { TestFunctions } from "./support/test-functions.js";

/** A store on an empty database, whose time is the clock's. */
export type MeterStoreUnderTest = {
  readonly store: MeterStore;
  /**
   * A store on the same database in another process, whose own clock is ahead of the database's by so many
   * milliseconds; behind, if negative. Left out if only one process at a time can use the store.
   */
  readonly elsewhere?: ((aheadMilliseconds: number) => MeterStore) | undefined;
  close(): Promise<void>;
};

/** What every implementation of MeterStore must do. `technology` completes the suite's name, such as `on SQLite`. */
export const describeMeterStore = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  open: (clock: HandClock) => Promise<MeterStoreUnderTest>,
): void => {
  const acme = accountId("acme");
  const other = accountId("other");

  describe(`MeterStore ${technology}`, () => {
    let clock: HandClock;
    let tested: MeterStoreUnderTest;
    let store: MeterStore;

    beforeEach(async () => {
      clock = new HandClock();
      tested = await open(clock);
      ({ store } = tested);
    });
    afterEach(() => tested.close());

    const read = (query: MeterQuery = {}, account = acme): Promise<MeterRecord> =>
      Promise.resolve(store.change(account, query, (record) => ({ answer: record })));

    const write = async (change: Partial<MeterChange>, query: MeterQuery = {}, account = acme): Promise<void> =>
      store.change(account, query, (record) => ({
        change: { credits: record.credits, holds: [], entries: [], log: undefined, ...change },
        answer: undefined,
      }));

    const held = async (key?: string, seconds = 60): Promise<Hold<HeldReservation>> => {
      const { newTaskId, now } = await read();
      const reservation = { taskId: newTaskId, accountId: acme, credits: credits(3), state: "held" } as const;
      const idempotent = key === undefined ? undefined : { key: idempotencyKey(key), requestSha256: `of ${key}` };
      return { reservation, heldAt: now, expiresAt: secondsAfter(now, seconds), idempotent };
    };

    const purchase = (n: number, amount: number, account = acme): LedgerEntry => ({
      kind: "purchase",
      accountId: account,
      orderId: orderId(`order-${n}`),
      credits: amount,
      at: secondsAfter(clock.now(), n),
    });

    it("has nothing of an account that was never written, also after it was read", async () => {
      for (const _ of ["first", "second"]) {
        const query = { rate: "render", idempotencyKey: idempotencyKey("k"), orderId: orderId("order-1") };
        expect(await read(query)).toEqual({
          now: clock.now(),
          newTaskId: expect.stringMatching(/./),
          credits: 0,
          open: [],
          log: [],
          hold: undefined,
          purchased: undefined,
        });
        expect(await store.entries(acme, 10, undefined)).toEqual([]);
      }
    });

    it("returns the answer, and stores all of the change", async () => {
      const hold = await held("k");
      const entries = [purchase(1, 10), reservationEntry(hold.reservation, clock.now())];
      const change = { credits: credits(7), holds: [hold], entries, log: [1, 2, 3] };
      const answer = await store.change(acme, { rate: "render" }, () => ({ change, answer: "done" }));
      expect(answer).toBe("done");

      const query = { rate: "render", idempotencyKey: idempotencyKey("k"), orderId: orderId("order-1") };
      const stored = { credits: 7, open: [hold], log: [1, 2, 3], hold, purchased: 10 };
      expect(await read(query)).toMatchObject(stored);
      expect(await read({ taskId: hold.reservation.taskId })).toMatchObject({ hold, log: [], purchased: undefined });
      const lines = await store.entries(acme, 10, undefined);
      expect(lines.map(({ entry }) => entry)).toEqual(entries.toReversed());
    });

    it("changes nothing without a change", async () => {
      await write({ credits: credits(5), log: [9] }, { rate: "render" });
      expect(await store.change(acme, { rate: "render" }, ({ credits: balance }) => ({ answer: balance }))).toBe(5);
      expect(await read({ rate: "render" })).toMatchObject({ credits: 5, log: [9] });
    });

    it("writes nothing if the decision throws, and throws the same error", async () => {
      const failure = new Error("no decision");
      const decide = async () =>
        store.change(acme, {}, () => {
          throw failure;
        });
      await expect(decide()).rejects.toBe(failure);
      expect(await read()).toMatchObject({ credits: 0, open: [] });
    });

    it("tells the time of its clock, and a new id in each call", async () => {
      expect((await read()).now).toEqual(clock.now());
      await clock.advance(1500);
      const records = await Promise.all(Array.from({ length: 50 }, () => read()));
      expect(new Set(records.map(({ newTaskId }) => newTaskId)).size).toBe(50);
      expect(records.every(({ now }) => now.getTime() === clock.now().getTime())).toBe(true);
    });

    it("has a hold among the open ones while it is held, and finds it afterwards", async () => {
      const [first, second] = [await held(), await held()];
      await write({ holds: [first, second] });
      const byId = (a: Hold, b: Hold) => (a.reservation.taskId < b.reservation.taskId ? -1 : 1);
      expect((await read()).open.toSorted(byId)).toEqual([first, second].sort(byId));
      const renewed = { ...second, expiresAt: secondsAfter(second.expiresAt, 60) };
      const captured = { ...first, reservation: capture(first.reservation) };
      await write({ holds: [captured, renewed] });
      expect(await read({ taskId: first.reservation.taskId })).toMatchObject({ open: [renewed], hold: captured });
    });

    it("finds the newest hold with an idempotency key, in any state", async () => {
      const first = await held("k");
      await write({ holds: [first] });
      await clock.advance(1000);
      const second = await held("k");
      await write({ holds: [second] });
      await write({ holds: [{ ...first, reservation: capture(first.reservation) }] });
      const query = { idempotencyKey: idempotencyKey("k") };
      expect((await read(query)).hold).toEqual(second);
      const captured = { ...second, reservation: capture(second.reservation) };
      await write({ holds: [captured] });
      expect((await read(query)).hold).toEqual(captured);
      expect((await read({ idempotencyKey: idempotencyKey("K") })).hold).toBeUndefined();
    });

    it("keeps accounts apart, and the logs of different rates", async () => {
      const hold = await held("k");
      await write({ credits: credits(4), holds: [hold], entries: [purchase(1, 4)], log: [1] }, { rate: "render" });
      await write({ log: [2] }, { rate: "read" });
      const query = { rate: "render", idempotencyKey: idempotencyKey("k"), orderId: orderId("order-1") };
      expect(await read(query, other)).toMatchObject({ credits: 0, open: [], log: [] });
      const found = await read(query, other);
      expect([found.hold, found.purchased]).toEqual([undefined, undefined]);
      expect((await read({ taskId: hold.reservation.taskId }, other)).hold).toBeUndefined();
      expect(await store.entries(other, 10, undefined)).toEqual([]);
      expect([(await read({ rate: "render" })).log, (await read({ rate: "read" })).log]).toEqual([[1], [2]]);
      expect((await read({ taskId: "unknown" as TaskId })).hold).toBeUndefined();
    });

    it("lists the ledger in pages, newest first", async () => {
      for (let n = 1; n <= 5; n += 1) {
        await write({ entries: [purchase(n, n)] });
        await write({ entries: [purchase(n, 10 * n, other)] }, {}, other);
      }
      const pages: number[][] = [];
      for (let before: LedgerCursor | undefined; ; ) {
        const lines = await store.entries(acme, 2, before);
        if (lines.length === 0) break;
        pages.push(lines.map(({ entry }) => entry.credits));
        before = lines.at(-1)?.cursor;
      }
      expect(pages).toEqual([[5, 4], [3, 2], [1]]);
    });

    it("makes concurrent changes of an account one after the other", async () => {
      const add = (n: number, account = acme) =>
        store.change(account, { rate: "render" }, (record) => ({
          change: {
            credits: credits(record.credits + 1),
            holds: [],
            entries: [purchase(n, 1, account)],
            log: [...record.log, n],
          },
          answer: record.credits,
        }));
      const before = await Promise.all(Array.from({ length: 40 }, (_, n) => add(n)));
      await Promise.all(Array.from({ length: 10 }, (_, n) => add(100 + n, n % 2 === 0 ? acme : other)));
      expect(before.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n));
      const { credits: balance, log } = await read({ rate: "render" });
      expect([balance, log.length, (await read({}, other)).credits]).toEqual([45, 45, 5]);
      expect(await store.entries(acme, 100, undefined)).toHaveLength(45);
    });
  });
};
