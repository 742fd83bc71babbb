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

  it("keeps the description, the reason and the metadata of an entry", async () => {
    const { usage } = await open();
    const print = { price: "print", quantity: 3, description: "3 pages" } as const;
    const { taskId: id, capture } = (await usage.hold("acme", print))._unsafeUnwrap();
    await capture({ credits: 5 });
    const refund = { taskId: id, credits: 2, reason: "too slow", idempotencyKey: "r1", metadata: { ticket: "7" } };
    expect(await usage.refund("acme", refund)).toEqual(ok(7));
    const taken = { credits: -1, reason: "bounced", idempotencyKey: "a1", metadata: { ticket: "8" } };
    expect(await usage.adjust("acme", taken)).toEqual(ok(6));
    expect(await usage.find("acme", id)).toMatchObject({ state: "captured", spent: 3, description: "3 pages" });
    expect((await usage.ledger("acme")).map(({ entry }) => entry)).toMatchObject([
      { kind: "adjustment", ...taken },
      { kind: "refund", ...refund },
      { kind: "refund", credits: 4 },
      { kind: "reservation", credits: -9, description: "3 pages" },
      { kind: "purchase", credits: 10, description: "Starter pack" },
    ]);
  });

  it("refuses a refund of what it does not know, a key that is used otherwise, and a hold during a debt", async () => {
    const { usage } = await open();
    const taken = { credits: -12, reason: "charged back", idempotencyKey: "a1" };
    expect(await usage.adjust("acme", taken)).toEqual(err({ kind: "insufficient_credits", balance: 10, cost: 12 }));
    expect(await usage.adjust("acme", { ...taken, allowDebt: true })).toEqual(ok(-2));
    expect(await usage.hold("acme", { price: "draft" })).toEqual(
      err({ kind: "insufficient_credits", balance: 0, cost: 1 }),
    );
    expect(await usage.adjust("acme", { ...taken, credits: 5 })).toEqual(err({ kind: "key_reused", key: "a1" }));
    const refund = { credits: 2, reason: "too slow", idempotencyKey: "r1" };
    for (const id of ["?", taskId(404)]) {
      const refused = err({ kind: "not_captured", state: "unknown" });
      expect(await usage.refund("acme", { ...refund, taskId: id })).toEqual(refused);
    }
    await expect(usage.purchase("acme", { orderId: "a1", credits: 1 })).rejects.toThrow(
      "is the adjustment of -12 credits",
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
