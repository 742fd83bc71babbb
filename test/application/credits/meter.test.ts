import { err, ok, type Result } from "neverthrow";
import { beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { describeMeter } from "../../../adapters/contracts/meter/meter-contract.js";
import { taskId } from "../../../adapters/contracts/support/builders.js";
import type { HandClock } from "../../../adapters/memory/hand-clock.js";
import { meter } from "../../../application/credits/meter.js";
import type { HoldRefusal, Meter, TaskHold } from "../../../application/credits/meter-types.js";
import type { MeterChange, MeterStore } from "../../../application/ports/stores/meter-store.js";
import { credits } from "../../../domain/credits/credits.js";
import { idempotencyKey } from "../../../domain/credits/idempotency.js";
import { orderId } from "../../../domain/credits/order.js";
import { definePolicy } from "../../../domain/credits/policy.js";
import { accountId } from "../../../domain/ids.js";
import { meterStoreInMemory } from "../../support/metered.js";

describeMeter({ describe, it }, "on a store in memory", meterStoreInMemory);

const policy = definePolicy({
  prices: { draft: 1, print: 3 },
  rates: { render: { limit: 3, windowSeconds: 60 } },
  activeMax: 2,
  holdSeconds: 600,
});
const { store: meterStore } = await meterStoreInMemory();
const acme = accountId("acme");
const upload = { price: "print", idempotencyKey: idempotencyKey("upload-7") } as const;

describe("a meter", () => {
  let clock: HandClock;
  let store: MeterStore;
  let pdf: Meter<"draft" | "print", "render">;

  beforeEach(async () => {
    const opened = await meterStoreInMemory();
    clock = opened.clock;
    store = opened.store;
    pdf = meter({ policy, store });
    await pdf.purchase(acme, { orderId: orderId("order-1"), credits: credits(10) });
  });

  const held = async (request: Parameters<typeof pdf.hold>[1] = { price: "print" }): Promise<TaskHold> =>
    (await pdf.hold(acme, request))._unsafeUnwrap();

  const kinds = async () => (await pdf.ledger(acme)).map(({ entry }) => `${entry.kind} ${entry.credits}`).reverse();

  it("does not compile with an unknown price", () => {
    expectTypeOf(pdf).toEqualTypeOf(meter({ policy, store: meterStore }));
    expectTypeOf<Parameters<typeof pdf.hold>[1]["price"]>().toEqualTypeOf<"draft" | "print">();
    expectTypeOf<Parameters<typeof pdf.admit>[1]>().toEqualTypeOf<"render">();
    expectTypeOf(pdf.hold).returns.toEqualTypeOf<Promise<Result<TaskHold, HoldRefusal>>>();
    // @ts-expect-error: there is no such price
    const noPrice = () => pdf.hold(acme, { price: "poster" });
    // @ts-expect-error: there is no such rate
    const noRate = () => pdf.hold(acme, { price: "print", rate: "upload" });
    expect([noPrice, noRate]).toHaveLength(2);
  });

  it("checks rate, credits and active tasks in this order, and returns their limits", async () => {
    await pdf.purchase(accountId("poor"), { orderId: orderId("order-1"), credits: credits(2) });
    expect(await pdf.hold(accountId("poor"), { price: "print" })).toEqual(
      err({ kind: "insufficient_credits", balance: 2, cost: 3 }),
    );
    await held();
    await held();
    const request = { price: "print", rate: "render" } as const;
    for (let n = 0; n < 3; n += 1) {
      expect(await pdf.hold(acme, request)).toEqual(err({ kind: "too_many_active_tasks", limit: 2 }));
    }
    const limited = { kind: "rate_limited", limit: 3, retryAfterSeconds: 60 };
    expect(await pdf.hold(acme, request)).toEqual(err(limited));
    expect(await pdf.admit(acme, "render")).toEqual(err(limited));
    expect(await pdf.hold(acme, { price: "print" })).toEqual(err({ kind: "too_many_active_tasks", limit: 2 }));
    await clock.advance(60_000);
    expect(await pdf.admit(acme, "render")).toEqual(ok({ limit: 3, remaining: 2, resetSeconds: 60 }));
    expect(await pdf.balance(acme)).toBe(4);
  });

  it("keeps an idempotency key while its hold is held", async () => {
    const long = await held(upload);
    for (let minutes = 0; minutes < 25 * 60; minutes += 9) {
      await clock.advance(9 * 60_000);
      await long.renew();
    }
    expect(await held(upload)).toMatchObject({ taskId: long.taskId, state: "held", replayed: true });
    await long.capture();
    expect((await held(upload)).replayed).toBe(false);
    expect(await pdf.balance(acme)).toBe(4);
  });

  it("keeps an idempotency key for 24 hours after its hold has ended", async () => {
    const { taskId, capture } = await held(upload);
    await capture();
    await clock.advance(24 * 60 * 60_000 - 1);
    expect(await held(upload)).toMatchObject({ taskId, state: "captured", replayed: true });
    await clock.advance(1);
    expect(await held(upload)).toMatchObject({ state: "held", replayed: false });
  });

  it("refuses an idempotency key for another price or another fingerprint", async () => {
    const reused = { kind: "key_reused", key: "upload-7", hours: 24 };
    await held({ ...upload, fingerprint: "a" });
    expect((await held({ ...upload, fingerprint: "a" })).replayed).toBe(true);
    for (const other of [
      { fingerprint: "b" },
      { fingerprint: undefined },
      { fingerprint: "a", price: "draft" },
      { fingerprint: "a", quantity: 2 },
    ] as const) {
      expect(await pdf.hold(acme, { ...upload, ...other })).toEqual(err(reused));
    }
    expect(await pdf.balance(acme)).toBe(7);
  });

  it("refunds expired holds in the order in which their leases ended, and frees their slots", async () => {
    const first = await held({ price: "draft" });
    await held();
    await clock.advance(1_000);
    await first.renew();
    await clock.advance(600_000);
    expect((await held()).state).toBe("held");
    expect(await kinds()).toEqual([
      "purchase 10",
      "reservation -1",
      "reservation -3",
      "refund 3",
      "refund 1",
      "reservation -3",
    ]);
  });

  it("lists open holds, oldest first, and finds each of its own tasks in any state", async () => {
    const first = await held();
    await clock.advance(1_000);
    const second = await held({ price: "draft" });
    const read: typeof store.read = async (...query) => {
      const { open, ...reading } = await store.read(...query);
      return { ...reading, open: open.toReversed() };
    };
    const listed = await meter({ policy, store: { ...store, read } }).openHolds(acme);
    expect(listed).toMatchObject([first, second].map(({ taskId }) => ({ taskId, state: "held", replayed: false })));
    await clock.advance(600_000);
    for (const { taskId } of [first, second]) {
      expect(await pdf.find(acme, taskId)).toMatchObject({ taskId, state: "refunded", replayed: false });
    }
    for (const id of [taskId(404), "?"]) expect(await pdf.find(acme, id)).toBeUndefined();
    expect(await second.renew()).toEqual(err({ kind: "already_resolved", as: "refunded" }));
  });

  it("throws for a hold that is gone, and names it", async () => {
    const change: typeof store.change = (id, query, decide) =>
      store.change(id, query, (record) => decide({ ...record, hold: undefined }));
    const rolledBack = meter({ policy, store: { ...store, change } });
    const { taskId, refund } = (await rolledBack.hold(acme, { price: "print" }))._unsafeUnwrap();
    await expect(refund()).rejects.toThrow(`The account acme has no hold ${taskId}. It was deleted, or`);
  });

  it("stores in a transaction of its caller, if the store can join one", async () => {
    const { store: transaction } = await meterStoreInMemory();
    const joining = meter({ policy, store: { ...store, within: (connection: MeterStore) => connection } });
    expect(await joining.within(transaction).purchase(acme, { orderId: "order-2", credits: 5 })).toBe(5);
    expect([await joining.balance(acme), pdf]).toEqual([
      10,
      expect.not.objectContaining({ within: expect.anything() }),
    ]);
  });

  it("credits an order once, and throws for the same order with another amount", async () => {
    const order = { orderId: orderId("order-2"), credits: credits(5) };
    expect(await pdf.purchase(acme, order)).toBe(15);
    expect(await pdf.purchase(acme, order)).toBe(15);
    await expect(pdf.purchase(acme, { ...order, credits: credits(6) })).rejects.toThrow(
      "The order order-2 is the purchase of 5 credits, and cannot be a purchase of 6.",
    );
    expect(await pdf.purchase(accountId("other"), { ...order, credits: credits(6) })).toBe(6);
    expect(await kinds()).toEqual(["purchase 10", "purchase 5"]);
  });

  it("lists the ledger in pages, newest first", async () => {
    for (let n = 0; n < 3; n += 1) await (await held({ price: "draft" })).capture();
    const [newest, next] = await pdf.ledger(acme, { limit: 2 });
    expect([newest?.entry.credits, next?.entry.credits]).toEqual([-1, -1]);
    expect(await pdf.ledger(acme, { limit: 1 })).toEqual([newest]);
    const rest = await pdf.ledger(acme, { before: next?.cursor });
    expect(rest.map(({ entry }) => entry.credits)).toEqual([-1, 10]);
    for (const limit of [0, -1, 1.5, Number.NaN]) {
      await expect(pdf.ledger(acme, { limit })).rejects.toThrow(`A page cannot have ${limit} entries.`);
    }
  });

  it("writes nothing for a refusal or a ledger, except the refunds of ended leases", async () => {
    const changes: (MeterChange | undefined)[] = [];
    const change: typeof store.change = (id, query, decide) =>
      store.change(id, query, (record) => {
        const decided = decide(record);
        changes.push(decided.change);
        return decided;
      });
    const watched = meter({ policy, store: { ...store, change } });
    await watched.hold(acme, { price: "print", quantity: 9 });
    expect(changes.splice(0)).toEqual([undefined]);
    const hold = await held();
    await watched.ledger(acme);
    expect(changes).toEqual([]);
    await clock.advance(600_000);
    expect((await watched.ledger(acme, { limit: 1 }))[0]?.entry).toMatchObject({ kind: "refund", taskId: hold.taskId });
    expect(changes).toMatchObject([{ credits: 10, holds: [{}], entries: [{}] }]);
  });
});
