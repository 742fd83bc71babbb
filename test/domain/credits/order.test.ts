import * as fc from "fast-check";
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
  orderId as idOfOrder,
  openOrder,
  PAYMENT_DIFFERENCES,
  type Payment,
  PENDING_ORDERS_WINDOW_MILLISECONDS,
  parseOrderCredits,
  parseOrderId,
  pay,
  payWith,
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

  it.each(["order_1", "A-Z_09", "x".repeat(40)])("may have the id %j", (text) => {
    expect(parseOrderId(text)).toBe(text);
  });

  it.each(["", "two words", "a/b", "x\u0000", "x".repeat(41)])("parses no id from %j", (text) => {
    expect(parseOrderId(text)).toBeUndefined();
  });

  it("orderId throws for an invalid id", () => {
    expect(idOfOrder("order-1")).toBe("order-1");
    expect(() => idOfOrder("a/b")).toThrow(
      new RangeError('"a/b" cannot be an order id: 1 to 40 of the characters A-Z, a-z, 0-9, _ and -'),
    );
  });

  it("rejects a second payment with the paid order", () => {
    const paid = pay(aPendingOrder(), noon)._unsafeUnwrap();
    expect(paid).toEqual(aPaidOrder());
    expect(pay(paid, secondsAfter(noon, 60))).toEqual(err({ kind: "already_paid", order: paid }));
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
  });

  it("rejects a payment with any difference and lists every difference", () => {
    const others = { session: "other", token: "other", amount: 1, currency: "JPY" } as const;
    const names = Object.keys(others) as (keyof typeof others)[];
    expect(["checkout", ...names]).toEqual(PAYMENT_DIFFERENCES);
    return fc.assert(
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

  it.each([1, 2, 999_999, 1_000_000])("can be for %i credits", (amount) => {
    expect(parseOrderCredits(amount)).toEqual(ok(amount));
  });

  it.each([0, -1, 1_000_001, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("cannot be for %d credits", (amount) => {
    expect(parseOrderCredits(amount)).toEqual(
      err({
        kind: "invalid_request",
        field: "credits",
        rule: { name: "integer", min: 1, max: 1_000_000, actual: amount },
      }),
    );
  });

  it("accepts integers from 1 to 1,000,000 only", () => {
    return fc.assert(
      fc.property(fc.oneof(fc.double(), fc.integer()), (amount) => {
        expect(parseOrderCredits(amount).isOk()).toBe(Number.isInteger(amount) && amount > 0 && amount < 1_000_001);
      }),
    );
  });
});
