import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accountId, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import { type DueDelivery, LANE_SLOTS, ORIGIN_SLOTS, shareSlots } from "../../../domain/webhooks/share-slots.js";
import { newReceiver, type Receiver } from "../../../domain/webhooks/webhook-receiver.js";

const steady: Receiver = { verifiedAt: noon, failures: 0, nextAt: noon };
const doubtful: Receiver = { verifiedAt: noon, failures: 1, nextAt: noon };
const unverified = newReceiver(noon);

let ids = 0;
const aDelivery = (
  account: number,
  lane: string,
  receiver = steady,
  origin = `https://${lane}.example`,
): DueDelivery => {
  ids += 1;
  return { id: ids, accountId: accountId(account), lane, origin, receiver };
};
const many = (count: number, ...of: Parameters<typeof aDelivery>) =>
  Array.from({ length: count }, () => aDelivery(...of));
const countBy = (deliveries: readonly DueDelivery[], keyOf: (delivery: DueDelivery) => string) => {
  const counts = new Map<string, number>();
  for (const delivery of deliveries) counts.set(keyOf(delivery), (counts.get(keyOf(delivery)) ?? 0) + 1);
  return counts;
};
const most = (counts: ReadonlyMap<string, number>): number => Math.max(0, ...counts.values());

describe("shareSlots", () => {
  it("gives a lane at most 12 slots, and an unverified or silent lane one slot", () => {
    expect([LANE_SLOTS, ORIGIN_SLOTS]).toEqual([12, 32]);
    expect(shareSlots(many(20, 1, "a"), [], 256)).toHaveLength(12);
    expect(shareSlots(many(20, 1, "a"), many(10, 1, "a"), 256)).toHaveLength(2);
    for (const receiver of [unverified, doubtful]) {
      expect(shareSlots(many(20, 1, "a", receiver), [], 256)).toHaveLength(1);
      expect(shareSlots(many(20, 1, "a", receiver), [aDelivery(1, "a", receiver)], 256)).toEqual([]);
    }
  });

  it("takes the longest due of a lane first, and lets the lanes of an account take turns", () => {
    const [a, b] = [many(3, 1, "a"), many(3, 1, "b")];
    expect(shareSlots([...a, ...b], [], 6)).toEqual([a[0], b[0], a[1]]);
  });

  it("lets accounts take turns, however many lanes they have", () => {
    const [a, b, c] = [aDelivery(1, "a"), aDelivery(1, "b"), aDelivery(2, "c")];
    expect(shareSlots([a, b, c], [], 3)).toEqual([a, c]);
  });

  it("always leaves a slot for an account that has none", () => {
    const hostile = Array.from({ length: 60 }, (_, n) => many(12, 1 + (n % 6), `slow-${n}`)).flat();
    const running: DueDelivery[] = [];
    for (let claims = 0; claims < 10; claims += 1) running.push(...shareSlots(hostile, running, 256));
    expect(running.length).toBeLessThan(256);
    const stranger = aDelivery(99, "stranger");
    expect(shareSlots([...hostile, stranger], running, 256)).toContain(stranger);
  });

  it("gives an origin at most 32 slots, shared among the accounts", () => {
    const origin = "https://shared.example";
    const hostile = ["a", "b", "c", "d", "e"].flatMap((lane) => many(12, 1, lane, steady, origin));
    const running = shareSlots(hostile, [], 256);
    expect(running).toHaveLength(16);
    const others = Array.from({ length: 40 }, (_, n) => aDelivery(n + 2, `other-${n}`, steady, origin));
    expect(shareSlots(others, running, 256)).toHaveLength(16);
  });

  it("tries one unverified lane of an origin at a time, over all accounts", () => {
    const origin = "https://never-asked.example";
    const due = Array.from({ length: 30 }, (_, n) => aDelivery(n % 3, `lane-${n}`, unverified, origin));
    expect(shareSlots(due, [], 256)).toEqual([due[0]]);
    expect(shareSlots(due.slice(1), due.slice(0, 1), 256)).toEqual([]);
    const known = aDelivery(9, "known", steady, origin);
    const elsewhere = aDelivery(8, "elsewhere", unverified);
    expect(shareSlots([known, elsewhere], due.slice(0, 1), 256)).toEqual([known, elsewhere]);
    expect(shareSlots(due.slice(0, 1), [known], 256)).toEqual([due[0]]);
  });

  it("tries a new lane of an origin before failed lanes, even if it is due later", () => {
    const origin = "https://shared.example";
    const failed = Array.from({ length: 9 }, (_, n) => aDelivery(1, `${n}`, { ...unverified, failures: 1 }, origin));
    const fresh = aDelivery(2, "new", unverified, origin);
    expect(shareSlots([...failed, fresh], [], 256)).toEqual([fresh]);
  });

  const deliveries = fc.array(
    fc.tuple(fc.nat(5), fc.nat(3), fc.nat(2), fc.constantFrom(steady, doubtful, unverified)),
    { maxLength: 80 },
  );
  /** A lane has one receiver and one origin. */
  const world = fc.tuple(deliveries, fc.integer({ min: 1, max: 40 })).map(([all, slots]) => {
    const lanes = new Map<string, readonly [Receiver, string]>();
    const due = all.map(([account, n, site, receiver]) => {
      const lane = `${account}-${n}`;
      const known = lanes.get(lane) ?? ([receiver, `https://site-${site}.example`] as const);
      lanes.set(lane, known);
      return aDelivery(account, lane, ...known);
    });
    return { due, slots };
  });

  it("never exceeds the slots of process, lane, origin and account", () => {
    return fc.assert(
      fc.property(world, ({ due, slots }) => {
        const running: DueDelivery[] = [];
        for (let claims = 0; claims < 4; claims += 1) {
          const left = due.filter((delivery) => !running.includes(delivery));
          running.push(...shareSlots(left, running, slots));
        }
        expect(new Set(running).size).toBe(running.length);
        expect(running.length).toBeLessThanOrEqual(slots);
        expect(most(countBy(running, ({ lane }) => lane))).toBeLessThanOrEqual(LANE_SLOTS);
        expect(most(countBy(running, ({ origin }) => origin))).toBeLessThanOrEqual(ORIGIN_SLOTS);
        const probed = running.filter(({ receiver }) => receiver !== steady);
        expect(most(countBy(probed, ({ lane }) => lane))).toBeLessThanOrEqual(1);
        const unknown = running.filter(({ receiver }) => receiver === unverified);
        expect(most(countBy(unknown, ({ origin }) => origin))).toBeLessThanOrEqual(1);
        expect(most(countBy(running, ({ accountId: account }) => account))).toBeLessThanOrEqual(Math.ceil(slots / 2));
      }),
    );
  });

  it("gives a new account a slot while other accounts fill theirs", () => {
    return fc.assert(
      // Each of the six accounts may come after those before it, and so take half of what is free then.
      fc.property(world, fc.integer({ min: 2 ** 6, max: 256 }), ({ due }, slots) => {
        const running = [...shareSlots(due, [], slots)];
        const stranger = { ...aDelivery(77, "stranger"), nextAt: secondsAfter(noon, 1) };
        expect(shareSlots([...due, stranger], running, slots)).toContain(stranger);
      }),
    );
  });
});
