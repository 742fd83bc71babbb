import fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import {
  accountId,
  anOrderCheckout,
  aPaidOrder,
  aPendingOrder,
  noon,
  orderId,
  secondsAfter,
} from "../../../adapters/contracts/support/builders.js";
import { credits } from "../../../domain/credits/credits.js";
import {
  admitOrder,
  CREDIT_PACKS,
  type CreditPacks,
  openOrder,
  PAYMENT_DIFFERENCES,
  type Payment,
  PENDING_ORDERS_WINDOW_MILLISECONDS,
  packOf,
  parseOrderCredits,
  pay,
  payWith,
  priceAtMost,
  withReturned,
} from "../../../domain/credits/order.js";

describe("an order", () => {
  it("is opened pending", () => {
    expect(openOrder(orderId(1), accountId(1), credits(100), noon)).toEqual(aPendingOrder());
  });

  it("is refused if ten orders of the last 24 hours are pending", () => {
    expect(PENDING_ORDERS_WINDOW_MILLISECONDS).toBe(86_400_000);
    expect(admitOrder(9)).toEqual(ok(undefined));
    expect(admitOrder(10)).toEqual(err({ kind: "too_many_pending_orders", limit: 10 }));
    expect(admitOrder(11).isErr()).toBe(true);
  });

  const checkout = anOrderCheckout();
  const order = aPendingOrder({ checkout });
  const payment: Payment = {
    orderId: order.id,
    sessionId: checkout.sessionId,
    token: checkout.token,
    amountCents: checkout.priceCents,
    currency: checkout.currency,
  };

  it("is paid by a payment of its checkout, once", () => {
    const paid = payWith(order, payment, noon)._unsafeUnwrap();
    expect(paid).toEqual(aPaidOrder({ checkout }));
    expect(payWith(paid, payment, secondsAfter(noon, 60))).toEqual(err({ kind: "already_paid", order: paid }));
    expect(pay(aPendingOrder(), noon)).toEqual(ok(aPaidOrder()));
  });

  it("rejects a payment with any difference and lists every difference", () => {
    const others = { session: "other", token: "other", amount: 1, currency: "JPY" } as const;
    const names = Object.keys(others) as (keyof typeof others)[];
    expect(["checkout", ...names]).toEqual(PAYMENT_DIFFERENCES);
    fc.assert(
      fc.property(fc.subarray(names), fc.boolean(), (differences, isMissing) => {
        const other = <T>(name: keyof typeof others, own: T, wrong: T | undefined): T | undefined =>
          differences.includes(name) ? wrong : own;
        const wrong: Payment = {
          ...payment,
          sessionId: other("session", payment.sessionId, others.session) as string,
          token: other("token", payment.token, isMissing ? undefined : others.token),
          amountCents: other("amount", payment.amountCents, isMissing ? undefined : others.amount),
          currency: other("currency", payment.currency, isMissing ? undefined : others.currency),
        };
        const paid = payWith(order, wrong, noon);
        if (differences.length === 0) expect(paid.isOk()).toBe(true);
        else expect(paid).toEqual(err({ kind: "wrong_payment", differences }));
      }),
    );
  });

  it("rejects every payment if it has no checkout", () => {
    const refused = err({ kind: "wrong_payment", differences: ["checkout"] });
    expect(payWith(aPendingOrder(), payment, noon)).toEqual(refused);
    expect(payWith(aPaidOrder(), payment, noon)).toEqual(refused);
  });

  it("has the state, the dispute and the credits of its returned payment, if there are any", () => {
    const returned = { state: "refunded", dispute: "won", takenBack: credits(9), reason: "by hand" } as const;
    const { reason: returnReason, ...rest } = returned;
    expect(withReturned(aPaidOrder(), returned)).toEqual({ ...aPaidOrder(), ...rest, returnReason });
    const nothing = { state: "paid", dispute: "none", takenBack: credits(0), reason: undefined } as const;
    expect(withReturned(aPaidOrder(), nothing)).toEqual(aPaidOrder());
  });

  it("can be for 1 to 1,000,000 credits", () => {
    const near = fc.constantFrom(0, 1, 1_000_000, 1_000_001, 1.5, Number.NaN, Number.POSITIVE_INFINITY);
    fc.assert(
      fc.property(fc.oneof(near, fc.double(), fc.integer({ min: -9, max: 1_000_009 })), (actual) => {
        const rule = { name: "integer", min: 1, max: 1_000_000, actual };
        const isValid = Number.isInteger(actual) && actual > 0 && actual < 1_000_001;
        const refused = err({ kind: "invalid_request", field: "credits", rule });
        expect(parseOrderCredits(actual)).toEqual(isValid ? ok(actual) : refused);
      }),
    );
  });
});

describe("packs of credits", () => {
  it("cost 9, 39 and 129 USD for 100, 500 and 2000 credits", () => {
    expect(CREDIT_PACKS).toEqual([
      { credits: 100, priceCents: 900, currency: "USD" },
      { credits: 500, priceCents: 3900, currency: "USD" },
      { credits: 2000, priceCents: 12900, currency: "USD" },
    ]);
  });

  it("are found by their number of credits, otherwise undefined", () => {
    for (const pack of CREDIT_PACKS) expect(packOf(pack.credits, CREDIT_PACKS)).toEqual(pack);
    for (const amount of [0, -100, 99, Number.NaN]) expect(packOf(amount, CREDIT_PACKS)).toBeUndefined();
  });

  it("priceAtMost rounds the highest price per credit up to a cent", () => {
    const pack = fc.record({
      credits: fc.integer({ min: 1, max: 1_000_000 }).map(credits),
      priceCents: fc.integer({ min: 1, max: 10_000_000 }),
      currency: fc.constant("EUR"),
    });
    const packs = fc.tuple(pack, fc.array(pack, { maxLength: 9 })).map(([one, more]): CreditPacks => [one, ...more]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), packs, (amount, offered) => {
        const { priceCents = 0, currency } = priceAtMost(credits(amount), offered) ?? {};
        // By how much it is more than in each pack.
        const more = offered.map((one) => priceCents - (amount * one.priceCents) / one.credits);
        expect([Number.isInteger(priceCents), currency]).toEqual([true, "EUR"]);
        expect(Math.min(...more)).toBeGreaterThanOrEqual(-1e-6);
        expect(Math.min(...more)).toBeLessThan(1);
      }),
    );
    const offered: CreditPacks = [{ credits: credits(50), priceCents: 450, currency: "EUR" }, CREDIT_PACKS[0]];
    expect(priceAtMost(credits(6), offered)).toEqual({ priceCents: 54, currency: "EUR" });
    expect(priceAtMost(credits(6), CREDIT_PACKS)).toBeUndefined();
  });
});
