import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accountId, aPaidOrder, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import type { AdjustmentReason } from "../../../domain/credits/adjustment.js";
import { credits } from "../../../domain/credits/credits.js";
import { book } from "../../../domain/credits/funds.js";
import { type LedgerEntry, paymentReturnEntry, sumOf } from "../../../domain/credits/ledger.js";
import {
  mergeReturns,
  type PaymentReturn,
  remainingManualReturn,
  returnedOf,
  UNKNOWN_RETURN_KEPT_MILLISECONDS,
} from "../../../domain/credits/payment-return.js";

const PRICE = 900;
const order = { credits: credits(100), priceCents: PRICE };

const time = fc.nat(5).map((seconds) => secondsAfter(noon, seconds));
const cents = fc.nat(PRICE);

/** Few ids and times, so that reports meet. */
const report: fc.Arbitrary<PaymentReturn> = fc.oneof(
  fc.record({
    id: fc.constantFrom("re_1", "re_2", "re_3"),
    kind: fc.constant("refund" as const),
    cents: fc.constant(300),
    at: fc.constant(noon),
    failedAt: fc.option(time, { nil: undefined }),
  }),
  fc.record({ id: fc.constant("ch_1"), kind: fc.constant("total" as const), cents, at: time }),
  fc.record({
    id: fc.constantFrom("dp_1", "dp_2"),
    kind: fc.constant("dispute" as const),
    state: fc.constantFrom("none" as const, "open" as const, "won" as const, "lost" as const),
    stateAt: time,
    withdrawn: fc.option(fc.record({ cents, at: time, transfers: fc.nat(2) }), { nil: undefined }),
  }),
  fc.integer({ min: 1, max: 3 }).map((n) => ({
    id: `hand_${n}`,
    kind: "operator" as const,
    credits: credits(n * 20),
    reason: `no ${n}` as AdjustmentReason,
    at: secondsAfter(noon, n),
  })),
);

/** A ledger that gets every report and the payment, and the spending of 60 credits when it is possible. */
const run = (steps: readonly (PaymentReturn | "pay" | "spend")[]) => {
  const known = new Map<string, PaymentReturn>();
  const entries: LedgerEntry[] = [];
  let funds = { credits: credits(0), debt: credits(0) };
  let taken = 0;
  let isPaid = false;
  const add = (entry: LedgerEntry) => {
    const booked = book(funds, entry);
    funds = booked.funds;
    for (const next of booked.entries) {
      entries.push(next);
      expect(sumOf(entries)).toBeGreaterThanOrEqual(0);
    }
  };
  const core = { accountId: accountId(1), at: noon };
  for (const step of steps) {
    if (step === "spend") {
      if (funds.credits >= 60) add({ ...core, kind: "adjustment", reason: "spent" as AdjustmentReason, credits: -60 });
    } else if (step === "pay") {
      if (!isPaid) add({ ...core, kind: "purchase", orderId: aPaidOrder().id, credits: 100 });
      isPaid = true;
    } else {
      const before = known.get(step.id);
      known.set(step.id, before === undefined ? step : mergeReturns(before, step));
    }
    if (!isPaid) continue;
    const { takenBack } = returnedOf(order, [...known.values()]);
    if (takenBack !== taken) add(paymentReturnEntry(aPaidOrder(), taken - takenBack, noon));
    taken = takenBack;
    expect(funds.credits >= 0 && (funds.credits === 0 || funds.debt === 0)).toBe(true);
    expect(sumOf(entries)).toBe(funds.credits);
    expect(sumOf(entries.filter(({ kind }) => kind === "debt"))).toBe(funds.debt);
  }
  const spent = -sumOf(entries.filter(({ kind }) => kind === "adjustment"));
  return { returned: returnedOf(order, [...known.values()]), worth: funds.credits - funds.debt + spent };
};

describe("the returns of an order", () => {
  it("gives the same ledger for reordered, repeated and late reports", () => {
    fc.assert(
      fc.property(
        fc.array(report, { maxLength: 12 }).chain((reports) => {
          const all: readonly (PaymentReturn | "pay" | "spend")[] = [...reports, "pay", "spend"];
          return fc.tuple(
            fc.constant(all),
            fc.shuffledSubarray([...all], { minLength: all.length }),
            fc.array(fc.constantFrom(...all)),
          );
        }),
        ([all, shuffled, repeated]) => {
          const { returned, worth } = run(all);
          const other = run([...shuffled, ...repeated]);
          expect(other).toEqual({ returned, worth: 100 - returned.takenBack });
          expect(worth).toBe(other.worth);
        },
      ),
    );
  });

  const at = (seconds: number) => secondsAfter(noon, seconds);
  const refund = { id: "re_1", kind: "refund", cents: 300, at: noon } as const;
  const of = (...returns: PaymentReturn[]) => {
    const { state, dispute, takenBack } = returnedOf(order, returns);
    return [state, dispute, takenBack];
  };
  const dispute = { id: "dp_1", kind: "dispute", state: "open", stateAt: noon } as const;
  const total = { id: "ch_1", kind: "total", cents: 300, at: noon } as const;
  const byHand = {
    id: "hand_1",
    kind: "operator",
    credits: credits(9),
    reason: "x" as AdjustmentReason,
    at: noon,
  } as const;
  const withdrawn = { cents: PRICE, at: noon, transfers: 1 };

  const failedAt = (seconds: number) => ({ ...refund, failedAt: at(seconds) });
  const totalLater = { ...total, at: at(1) };
  const [won, lost] = (["won", "lost"] as const).map((state) => ({ ...dispute, state }));

  it.each<[string, PaymentReturn[], unknown[]]>([
    ["nothing", [], ["paid", "none", 0]],
    ["a refund of a third, rounded down", [refund], ["partly_refunded", "none", 33]],
    ["a refund that failed", [failedAt(1)], ["paid", "none", 0]],
    ["a refund of everything", [{ ...refund, cents: PRICE }], ["refunded", "none", 100]],
    ["a refund of a cent", [{ ...refund, cents: 1 }], ["partly_refunded", "none", 0]],
    ["a total without refunds", [{ ...total, cents: 450 }], ["partly_refunded", "none", 50]],
    ["a total of a refund of the same time", [refund, total], ["partly_refunded", "none", 33]],
    ["a total of a known refund", [refund, totalLater], ["partly_refunded", "none", 33]],
    ["a total of a refund that failed later", [failedAt(9), totalLater], ["paid", "none", 0]],
    ["a total of a refund that failed at the same time", [failedAt(1), totalLater], ["paid", "none", 0]],
    ["a total of a refund that failed before it", [failedAt(0), totalLater], ["partly_refunded", "none", 33]],
    ["a total of a refund made after it", [{ ...refund, at: at(2) }, totalLater], ["partly_refunded", "none", 66]],
    ["a won dispute", [won!], ["paid", "won", 0]],
    ["a lost dispute beside a won one", [won!, lost!], ["paid", "lost", 0]],
    ["an open dispute beside a lost one", [lost!, dispute], ["paid", "open", 0]],
    ["an open dispute that has withdrawn", [{ ...dispute, withdrawn }], ["paid", "open", 100]],
    [
      "both of the same money",
      [
        { ...refund, cents: PRICE },
        { ...dispute, withdrawn },
      ],
      ["refunded", "open", 100],
    ],
    ["the greater taken by hand", [refund, { ...byHand, credits: credits(50) }], ["partly_refunded", "none", 50]],
  ])("counts %s", (_, returns, expected) => {
    expect(of(...returns)).toEqual(expected);
  });

  it("keeps the return of an unknown payment for 30 days", () => {
    expect(UNKNOWN_RETURN_KEPT_MILLISECONDS).toBe(2_592_000_000);
  });

  it("remainingManualReturn returns the credits minus earlier manual returns", () => {
    expect(remainingManualReturn(order.credits, [refund, byHand])).toBe(91);
  });

  it("gives the latest reason of the operator", () => {
    const reasonOf = (...returns: PaymentReturn[]) => returnedOf(order, returns).reason;
    const [later, sameTime] = ["later", "same time"].map((reason) => ({ ...byHand, reason }));
    expect(reasonOf(refund)).toBeUndefined();
    expect(reasonOf(byHand, { ...byHand, ...later, id: "hand_0", at: at(1) })).toBe("later");
    expect(reasonOf({ ...byHand, ...sameTime, id: "hand_2" }, byHand)).toBe("same time");
    expect(reasonOf(byHand, { ...byHand, ...sameTime, id: "hand_2" })).toBe("same time");
  });

  it("counts only what was taken by hand for an order without a price", () => {
    const of = (...returns: PaymentReturn[]) => returnedOf({ credits: credits(100), priceCents: undefined }, returns);
    expect(of(refund, { ...dispute, withdrawn })).toMatchObject({ state: "paid", takenBack: 0 });
    expect(of(byHand)).toMatchObject({ state: "partly_refunded", takenBack: 9 });
    expect(of({ ...byHand, credits: credits(100) })).toMatchObject({ state: "refunded", takenBack: 100 });
  });

  const withdrew = (cents: number, seconds: number, transfers: number) => ({
    withdrawn: { cents, at: at(seconds), transfers },
  });

  it.each<[string, PaymentReturn, object, object]>([
    ["the first time of a refund", refund, { at: at(1) }, {}],
    ["the greater amount of a refund", refund, { cents: 299 }, {}],
    ["the failure of a refund", refund, {}, { failedAt: at(2) }],
    ["the first failure of a refund", refund, { failedAt: at(3) }, { failedAt: at(2) }],
    ["the latest total", total, {}, { cents: 100, at: at(1) }],
    ["the greater total of the same time", total, {}, { cents: 301 }],
    ["what was taken by hand", byHand, {}, {}],
    ["the latest state of a dispute", dispute, { state: "won" }, { stateAt: at(1) }],
    ["an open dispute before none", dispute, { state: "none" }, {}],
    ["a lost dispute before an open one", dispute, {}, { state: "lost" }],
    ["a won dispute before a lost one", dispute, { state: "lost" }, { state: "won" }],
    ["what a dispute has withdrawn", dispute, {}, { withdrawn }],
    ["the latest withdrawal", dispute, { withdrawn }, withdrew(5, 1, 0)],
    ["the withdrawal after more transfers", dispute, withdrew(PRICE, 0, 0), { withdrawn }],
    ["the smaller withdrawal of the same transfers", dispute, { withdrawn }, withdrew(5, 0, 1)],
  ])("keeps %s of two reports, in any order", (_, report, loses, wins) => {
    const [one, other] = [loses, wins].map((more) => ({ ...report, ...more })) as [PaymentReturn, PaymentReturn];
    expect([mergeReturns(one, other), mergeReturns(other, one)]).toEqual([other, other]);
  });

  it("mergeReturns throws for different ids or kinds", () => {
    expect(() => mergeReturns(refund, { ...refund, id: "re_2" })).toThrow("re_2");
    for (const other of [refund, total, byHand, dispute]) {
      for (const one of [refund, total, byHand, dispute]) {
        if (one !== other) expect(() => mergeReturns({ ...one, id: "x" }, { ...other, id: "x" })).toThrow(other.kind);
      }
    }
  });
});
