import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, expectTypeOf, it } from "vitest";
import { accountId, taskId } from "../../../adapters/contracts/support/builders.js";
import { credits } from "../../../domain/credits/credits.js";
import {
  type CapturedReservation,
  capture,
  type HeldReservation,
  holdCredits,
  type RefundedReservation,
  refund,
} from "../../../domain/credits/reservation.js";

const reserved = { taskId: taskId(1), accountId: accountId(1), credits: credits(6) };
const held: HeldReservation = { ...reserved, state: "held" };

describe("a reservation", () => {
  it("subtracts its credits from the balance, down to zero but not below", () => {
    expect(holdCredits(credits(10), reserved)).toEqual(ok({ reservation: held, balance: 4 }));
    expect(holdCredits(credits(6), reserved)).toEqual(ok({ reservation: held, balance: 0 }));
    expect(holdCredits(credits(5), reserved)).toEqual(err({ kind: "insufficient_credits", balance: 5, cost: 6 }));
  });

  it("holds the exact cost for every balance and every cost", () => {
    return fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (balance, cost) => {
        const result = holdCredits(credits(balance), { ...reserved, credits: credits(cost) });
        expect(result.isOk()).toBe(balance >= cost);
        if (result.isOk()) expect(BigInt(result.value.balance) + BigInt(cost)).toBe(BigInt(balance));
      }),
    );
  });

  it("is captured or refunded with all its credits", () => {
    expect(capture(held)).toEqual({ ...reserved, state: "captured" });
    expect(refund(held)).toEqual({ ...reserved, state: "refunded" });
  });

  it("does not compile with a capture or refund of a resolved reservation", () => {
    expectTypeOf(capture).parameter(0).toEqualTypeOf<HeldReservation>();
    expectTypeOf(refund).parameter(0).toEqualTypeOf<HeldReservation>();
    expectTypeOf(capture).returns.toEqualTypeOf<CapturedReservation>();
    expectTypeOf(refund).returns.toEqualTypeOf<RefundedReservation>();
    expectTypeOf<CapturedReservation>().not.toExtend<HeldReservation>();
    expectTypeOf<RefundedReservation>().not.toExtend<HeldReservation>();
  });
});
