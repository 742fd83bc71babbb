import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { credits } from "../../domain/credits.js";
import { capture, type HeldReservation, hold, type Reservation, refund } from "../../domain/reservation.js";
import { accountId, taskId } from "../support/builders.js";

const reserved = { taskId: taskId(1), accountId: accountId(1), credits: credits(6) };
const held: HeldReservation = { ...reserved, state: "held" };

describe("a reservation", () => {
  it("takes its credits off the balance, down to nothing but not below", () => {
    expect(hold(credits(10), reserved)).toEqual(ok({ reservation: held, balance: 4 }));
    expect(hold(credits(6), reserved)).toEqual(ok({ reservation: held, balance: 0 }));
    expect(hold(credits(5), reserved)).toEqual(err({ kind: "insufficient_credits", balance: 5, cost: 6 }));
  });

  it("is exact for every balance and every cost", () => {
    return fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (balance, cost) => {
        const result = hold(credits(balance), { ...reserved, credits: credits(cost) });
        expect(result.isOk()).toBe(balance >= cost);
        if (result.isOk()) expect(BigInt(result.value.balance) + BigInt(cost)).toBe(BigInt(balance));
      }),
    );
  });

  it("is captured or refunded, with all its credits", () => {
    expect(capture(held)).toEqual(ok({ ...reserved, state: "captured" }));
    expect(refund(held)).toEqual(ok({ ...reserved, state: "refunded" }));
  });

  it("is resolved exactly once, however often and in whatever order capture and refund are tried", () => {
    const attempts = fc.array(fc.constantFrom(capture, refund), { minLength: 1 });
    return fc.assert(
      fc.property(attempts, ([first, ...later]) => {
        const resolved: Reservation = first!(held)._unsafeUnwrap();
        expect(resolved.state).toBe(first === capture ? "captured" : "refunded");
        for (const attempt of later) {
          expect(attempt(resolved)).toEqual(err({ kind: "already_resolved", as: resolved.state }));
        }
      }),
    );
  });
});
