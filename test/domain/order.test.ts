import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { parseOrderCredits, pay } from "../../domain/order.js";
import { aPaidOrder, aPendingOrder, noon, secondsAfter } from "../support/builders.js";

describe("an order", () => {
  it("is paid once: the second payment is refused with the order as first paid", () => {
    const paid = pay(aPendingOrder(), noon)._unsafeUnwrap();
    expect(paid).toEqual(aPaidOrder());
    expect(pay(paid, secondsAfter(noon, 60))).toEqual(err({ kind: "already_paid", order: paid }));
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

  it("is for an integer from 1 to 1,000,000: every other number is refused", () => {
    return fc.assert(
      fc.property(fc.oneof(fc.double(), fc.integer()), (amount) => {
        expect(parseOrderCredits(amount).isOk()).toBe(Number.isInteger(amount) && amount > 0 && amount < 1_000_001);
      }),
    );
  });
});
