import type {
  MeterChange,
  MeterQuery,
  MeterRecord,
  MeterStore,
} from "../../../application/ports/stores/meter-store.js";
import { type AdjustmentReason, parseAdjustmentReason } from "../../../domain/credits/adjustment.js";
import { credits } from "../../../domain/credits/credits.js";
import { captureHold, type Hold, type OpenHold, refundCaptured } from "../../../domain/credits/hold.js";
import { idempotencyKey } from "../../../domain/credits/idempotency.js";
import { type LedgerEntry, reservationEntry } from "../../../domain/credits/ledger.js";
import type { LedgerCursor } from "../../../domain/credits/ledger-page.js";
import type { MeterEntry } from "../../../domain/credits/meter-entry.js";
import { orderId } from "../../../domain/credits/order.js";
import { accountId, type TaskId } from "../../../domain/ids.js";
import { HandClock } from "../../memory/hand-clock.js";
import { expect } from "../support/expect.js";
import { inChangingZones } from "../support/in-changing-zones.js";
import type { TestFunctions } from "../support/test-functions.js";

/** The builders of tasks would load zod, which the package of the meter does without. */
const secondsAfter = (at: Date, seconds: number): Date => new Date(at.getTime() + seconds * 1000);

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

/** Contract of every MeterStore. `technology` completes the suite's name, such as `on SQLite`. */
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
      tested = inChangingZones(await open(clock));
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

    const held = async (key?: string, seconds = 60): Promise<OpenHold> => {
      const { newTaskId, now } = await read();
      const reservation = { taskId: newTaskId, accountId: acme, credits: credits(3), state: "held" } as const;
      const idempotent = key === undefined ? undefined : { key: idempotencyKey(key), request: `of ${key}` };
      return { reservation, heldAt: now, expiresAt: secondsAfter(now, seconds), idempotent };
    };

    const captureAll = (hold: OpenHold): Hold => captureHold(hold, hold.reservation.credits, clock.now()).hold;

    const purchase = (n: number, amount: number, account = acme): LedgerEntry => ({
      kind: "purchase",
      accountId: account,
      orderId: orderId(`order-${n}`),
      credits: amount,
      at: secondsAfter(clock.now(), n),
    });

    it("returns 0 credits and no holds for an unknown account", async () => {
      for (const _ of ["first", "second"]) {
        const query = { rate: "render", idempotencyKey: idempotencyKey("k"), entryKey: orderId("order-1") };
        expect(await read(query)).toEqual({
          now: clock.now(),
          newTaskId: expect.stringMatching(/./),
          credits: 0,
          open: [],
          log: [],
          hold: undefined,
          entry: undefined,
        });
        expect(await store.entries(acme, 10, undefined)).toEqual([]);
      }
    });

    it("returns the answer, and stores all of the change, its times to the millisecond", async () => {
      await clock.advance(789);
      const hold = await held("k");
      const entries = [purchase(1, 10), reservationEntry(hold.reservation, clock.now())];
      const change = { credits: credits(7), holds: [hold], entries, log: [1, 2, 3] };
      const answer = await store.change(acme, { rate: "render" }, () => ({ change, answer: "done" }));
      expect(answer).toBe("done");

      const query = { rate: "render", idempotencyKey: idempotencyKey("k"), entryKey: orderId("order-1") };
      const stored = { credits: 7, open: [hold], log: [1, 2, 3], hold, entry: entries[0] };
      expect(await read(query)).toMatchObject(stored);
      expect(await read({ taskId: hold.reservation.taskId })).toMatchObject({ hold, log: [], entry: undefined });
      const lines = await store.entries(acme, 10, undefined);
      expect(lines.map(({ entry }) => entry)).toEqual(entries.toReversed());
    });

    it("read returns the last stored change", async () => {
      const wanted = { ...(await held("k")), description: "lecture.mp4", metadata: { job: "7", "a b": "" } };
      const { taskId } = wanted.reservation;
      expect(await store.read(acme, { taskId })).toEqual({ now: clock.now(), credits: 0, open: [], hold: undefined });
      const second = await held();
      await write({ credits: 4, holds: [wanted, second] });
      await clock.advance(1_500);
      const { now, credits: balance, open, hold } = await store.read(acme, { taskId });
      expect([now, balance, hold]).toEqual([clock.now(), 4, wanted]);
      expect(open.map(({ reservation }) => reservation.taskId).sort()).toEqual(
        [taskId, second.reservation.taskId].sort(),
      );
      const captured = captureAll(wanted);
      await write({ credits: 4, holds: [captured] });
      expect(await store.read(acme, { taskId })).toMatchObject({ credits: 4, open: [second], hold: captured });
      expect((await store.read(acme, {})).hold).toBeUndefined();
      expect(await store.read(other, { taskId })).toMatchObject({ credits: 0, open: [], hold: undefined });
    });

    it("stores a partial capture, a refund after it, a debt and the notes of entries", async () => {
      const hold = await held();
      const part = captureHold(hold, credits(2), clock.now());
      const refunded = refundCaptured(part.hold, credits(1))._unsafeUnwrap().hold;
      const { taskId } = hold.reservation;
      const of = { accountId: acme, at: clock.now() } as const;
      const reason: AdjustmentReason = parseAdjustmentReason("charged back")._unsafeUnwrap();
      const entries: MeterEntry[] = [
        { ...reservationEntry(hold.reservation, clock.now()), description: "π", metadata: { job: "7" } },
        ...part.entries,
        { ...of, kind: "refund", taskId, credits: 1, reason: "too slow", idempotencyKey: idempotencyKey("r") },
        { ...of, kind: "refund", taskId, credits: 1, reason: "again", idempotencyKey: idempotencyKey("r2") },
        { ...of, kind: "adjustment", credits: -9, reason, idempotencyKey: idempotencyKey("a"), metadata: { by: "me" } },
      ];
      await write({ credits: -10, holds: [hold] });
      await write({ credits: -10, holds: [part.hold], entries });
      expect((await read({ taskId })).hold).toEqual(part.hold);
      await write({ credits: -10, holds: [refunded] });
      expect(await read({ taskId, entryKey: idempotencyKey("a") })).toMatchObject({
        credits: -10,
        hold: refunded,
        entry: entries.at(-1),
      });
      expect((await store.read(acme, {})).credits).toBe(-10);
      expect((await read({ entryKey: idempotencyKey("r") })).entry).toEqual(entries[2]);
      const lines = await store.entries(acme, 10, undefined);
      expect(lines.map(({ entry }) => entry)).toEqual(entries.toReversed());
      await write({ credits: 3 });
      expect((await read()).credits).toBe(3);
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

    it("returns the time of its clock, and a new id in each call", async () => {
      expect((await read()).now).toEqual(clock.now());
      await clock.advance(1500);
      const records = await Promise.all(Array.from({ length: 50 }, () => read()));
      expect(new Set(records.map(({ newTaskId }) => newTaskId)).size).toBe(50);
      expect(records.every(({ now }) => now.getTime() === clock.now().getTime())).toBe(true);
    });

    it("lists a hold as open while it is held, and finds it afterwards", async () => {
      const [first, second] = [await held(), await held()];
      await write({ holds: [first, second] });
      const byId = (a: Hold, b: Hold) => (a.reservation.taskId < b.reservation.taskId ? -1 : 1);
      expect((await read()).open.toSorted(byId)).toEqual([first, second].sort(byId));
      const renewed = { ...second, expiresAt: secondsAfter(second.expiresAt, 60) };
      const captured = captureAll(first);
      await write({ holds: [captured, renewed] });
      expect(await read({ taskId: first.reservation.taskId })).toMatchObject({ open: [renewed], hold: captured });
    });

    it("finds the newest hold with an idempotency key, in any state", async () => {
      const first = await held("k");
      await write({ holds: [first] });
      await clock.advance(1000);
      const second = await held("k");
      await write({ holds: [second] });
      await write({ holds: [captureAll(first)] });
      const query = { idempotencyKey: idempotencyKey("k") };
      expect((await read(query)).hold).toEqual(second);
      const captured = captureAll(second);
      await write({ holds: [captured] });
      expect((await read(query)).hold).toEqual(captured);
      expect((await read({ idempotencyKey: idempotencyKey("K") })).hold).toBeUndefined();
    });

    it("keeps accounts apart, and the logs of different rates", async () => {
      const hold = await held("k");
      await write({ credits: credits(4), holds: [hold], entries: [purchase(1, 4)], log: [1] }, { rate: "render" });
      await write({ log: [2] }, { rate: "read" });
      const query = { rate: "render", idempotencyKey: idempotencyKey("k"), entryKey: orderId("order-1") };
      expect(await read(query, other)).toMatchObject({ credits: 0, open: [], log: [] });
      const found = await read(query, other);
      expect([found.hold, found.entry]).toEqual([undefined, undefined]);
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
