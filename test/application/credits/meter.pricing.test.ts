import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { taskId } from "../../../adapters/contracts/support/builders.js";
import { meter } from "../../../application/credits/meter.js";
import type { MeterEvent } from "../../../application/credits/meter-types.js";
import { definePolicy } from "../../../domain/credits/policy.js";
import { meterStoreInMemory } from "../../support/metered.js";

const policy = definePolicy({
  prices: { draft: 1, print: 3 },
  rates: { render: { limit: 3, windowSeconds: 60 } },
  activeMax: 2,
  holdSeconds: 600,
});

describe("pricing with a meter", () => {
  const open = async () => {
    const events: MeterEvent[] = [];
    const reporter = { report: (event: MeterEvent) => void events.push(event) };
    const { store, clock } = await meterStoreInMemory();
    const usage = meter({ policy, store, reporter });
    await usage.purchase("acme", { orderId: "order-1", credits: 10, description: "Starter pack" });
    return { usage, events, clock };
  };

  it("holds a quantity of a price, and captures a part: the rest returns", async () => {
    const { usage } = await open();
    const hold = (await usage.hold("acme", { price: "print", quantity: 3, description: "3 pages" }))._unsafeUnwrap();
    expect([hold.credits, hold.spent, await usage.balance("acme")]).toEqual([9, 0, 1]);
    expect(await hold.capture({ credits: 4 })).toEqual(ok(undefined));
    expect(await usage.find("acme", hold.taskId)).toMatchObject({
      state: "captured",
      spent: 4,
      description: "3 pages",
    });
    expect(await hold.capture({ credits: 4 })).toEqual(ok(undefined));
    for (const end of [hold.capture(), hold.capture({ credits: 3 }), hold.refund(), hold.renew()]) {
      expect(await end).toEqual(err({ kind: "already_resolved", as: "captured" }));
    }
    const lines = await usage.ledger("acme");
    expect(lines.map(({ entry }) => [entry.kind, entry.credits, entry.description])).toEqual([
      ["refund", 5, undefined],
      ["reservation", -9, "3 pages"],
      ["purchase", 10, "Starter pack"],
    ]);
  });

  it("refunds captured credits with a reason, once for each key and never more than were captured", async () => {
    const { usage } = await open();
    const { taskId: id, capture } = (await usage.hold("acme", { price: "print", quantity: 3 }))._unsafeUnwrap();
    const refund = { taskId: id, credits: 2, reason: "too slow", idempotencyKey: "r1", metadata: { ticket: "7" } };
    expect(await usage.refund("acme", refund)).toEqual(err({ kind: "not_captured", state: "held" }));
    await capture({ credits: 5 });
    for (const _ of ["first", "again"]) expect(await usage.refund("acme", refund)).toEqual(ok(7));
    for (const other of [
      { ...refund, taskId: "?" },
      { ...refund, taskId: taskId(404), idempotencyKey: "r4" },
    ]) {
      expect(await usage.refund("acme", other)).toEqual(err({ kind: "not_captured", state: "unknown" }));
    }
    const reused = err({ kind: "key_reused", key: "r1" });
    for (const other of [{ credits: 1 }, { taskId: taskId(404) }]) {
      expect(await usage.refund("acme", { ...refund, ...other })).toEqual(reused);
    }
    expect(await usage.adjust("acme", { credits: 2, reason: "sorry", idempotencyKey: "r1" })).toEqual(reused);
    const more = { ...refund, idempotencyKey: "r2" };
    expect(await usage.refund("acme", { ...more, credits: 4 })).toEqual(
      err({ kind: "refund_too_high", refundable: 3 }),
    );
    for (const _ of ["first", "again"]) {
      expect(await usage.refund("acme", { ...more, credits: undefined })).toEqual(ok(10));
    }
    expect(await usage.find("acme", id)).toMatchObject({ state: "captured", spent: 0 });
    expect(await usage.refund("acme", { ...more, credits: undefined, idempotencyKey: "r3" })).toEqual(
      err({ kind: "refund_too_high", refundable: 0 }),
    );
    const [, { entry } = {}] = await usage.ledger("acme");
    expect(entry).toMatchObject({ reason: "too slow", idempotencyKey: "r1", metadata: { ticket: "7" } });
  });

  it("adjusts a balance with a reason, and takes more than it has only as a debt", async () => {
    const { usage } = await open();
    const all = { credits: -10, reason: "bounced", idempotencyKey: "a0", metadata: { ticket: "8" } };
    expect(await usage.adjust("acme", all)).toEqual(ok(0));
    expect(await usage.adjust("acme", { credits: 10, reason: "no", idempotencyKey: "a3" })).toEqual(ok(10));
    expect((await usage.ledger("acme"))[1]?.entry).toMatchObject({ ...all, kind: "adjustment" });
    const taken = { credits: -12, reason: "charged back", idempotencyKey: "a1" };
    expect(await usage.adjust("acme", taken)).toEqual(err({ kind: "insufficient_credits", balance: 10, cost: 12 }));
    for (const _ of ["first", "again"])
      expect(await usage.adjust("acme", { ...taken, allowDebt: true })).toEqual(ok(-2));
    expect(await usage.hold("acme", { price: "draft" })).toEqual(
      err({ kind: "insufficient_credits", balance: 0, cost: 1 }),
    );
    expect(await usage.adjust("acme", { ...taken, credits: 5 })).toEqual(err({ kind: "key_reused", key: "a1" }));
    expect(await usage.adjust("acme", { credits: 0, reason: "none", idempotencyKey: "a4" })).toEqual(ok(-2));
    expect(await usage.adjust("acme", { credits: 1, reason: "sorry", idempotencyKey: "a2" })).toEqual(ok(-1));
    expect(await usage.purchase("acme", { orderId: "order-2", credits: 5 })).toBe(4);
    await expect(usage.purchase("acme", { orderId: "a2", credits: 1 })).rejects.toThrow(
      "is the adjustment of 1 credits",
    );
  });

  it("throws for invalid amounts and names the value", async () => {
    const { usage } = await open();
    const mistakes: readonly [Promise<unknown>, string][] = [
      [usage.hold("acme", { price: "poster" as "print" }), 'The policy has no price "poster". It has draft, print.'],
      [usage.hold("acme", { price: "constructor" as "print" }), 'no price "constructor"'],
      [
        usage.hold("acme", { price: "print", rate: "scan" as "render" }),
        'The policy has no rate "scan". It has render.',
      ],
      [usage.hold("acme", { price: "print", rate: "" as "render" }), 'The policy has no rate "".'],
      [usage.admit("acme", "scan" as "render"), 'no rate "scan"'],
      [usage.hold("acme", { price: "print", quantity: 1.5 }), "quantity must be an integer of 1 or more, not 1.5"],
      [usage.hold("acme", { price: "print", idempotencyKey: "" }), '"" cannot be an idempotency key'],
      [usage.balance("a b"), '"a b" cannot be an account id'],
      [usage.purchase("acme", { orderId: "order-2", credits: -1 }), "-1 is not a valid amount of credits"],
      [usage.purchase("acme", { orderId: "o", credits: 1, description: "\u0000" }), "The description must be text"],
      [
        usage.hold("acme", { price: "draft", metadata: { job: 7 as never } }),
        "metadata.job must be text of at most 500",
      ],
      [
        usage.adjust("acme", { credits: 0.5, reason: "?", idempotencyKey: "k" }),
        "An adjustment cannot be 0.5 credits.",
      ],
      [usage.adjust("acme", { credits: 1, reason: " ", idempotencyKey: "k" }), '" " cannot be a reason'],
    ];
    for (const [call, sentence] of mistakes) await expect(call).rejects.toThrow(sentence);
    const hold = (await usage.hold("acme", { price: "print" }))._unsafeUnwrap();
    await expect(hold.capture({ credits: 4 })).rejects.toThrow("holds 3 credits: 4 cannot be captured");
    await expect(hold.capture({ credits: -1 })).rejects.toThrow("-1 is not a valid amount of credits");
    expect((await usage.openHolds("acme")).map(({ taskId: id }) => id)).toEqual([hold.taskId]);
  });

  it("reports entries, refusals and leases that have ended", async () => {
    const { usage, events, clock } = await open();
    const hold = (await usage.hold("acme", { price: "print" }))._unsafeUnwrap();
    await usage.hold("acme", { price: "print", quantity: 9 });
    await clock.advance(600_000);
    expect(await usage.balance("acme")).toBe(10); // a read, which changes and reports nothing
    expect(events.splice(0).map((event) => (event.kind === "entry" ? event.entry.kind : event.kind))).toEqual([
      "purchase",
      "reservation",
      "refused",
    ]);
    await usage.admit("acme", "render");
    expect(events).toEqual([
      { kind: "lease_ended", accountId: "acme", taskId: hold.taskId, credits: 3 },
      { kind: "entry", entry: expect.objectContaining({ kind: "refund", credits: 3 }) },
    ]);
    for (const _ of ["second", "third", "fourth"]) await usage.admit("acme", "render");
    expect(events.slice(2)).toEqual([
      { kind: "refused", accountId: "acme", refusal: { kind: "rate_limited", limit: 3, retryAfterSeconds: 60 } },
    ]);
  });

  it("returns the result if the reporter throws", async () => {
    const { store } = await meterStoreInMemory();
    const reporter = {
      report: () => {
        throw new Error("no disk for the log");
      },
    };
    const usage = meter({ policy, store, reporter });
    expect(await usage.purchase("acme", { orderId: "order-1", credits: 3 })).toBe(3);
    const hold = (await usage.hold("acme", { price: "print", rate: "render" }))._unsafeUnwrap();
    expect(await usage.hold("acme", { price: "print" })).toMatchObject({ error: { kind: "insufficient_credits" } });
    expect(await hold.refund()).toEqual(ok(undefined));
    expect(await usage.balance("acme")).toBe(3);
  });
});
