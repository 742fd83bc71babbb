import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { accountId, taskId } from "../../../adapters/contracts/support/builders.js";
import { credits } from "../../../domain/credits/credits.js";
import {
  capture,
  type HeldReservation,
  holdCredits,
  refund,
  release,
  reserve,
} from "../../../domain/credits/reservation.js";

const reserved = { taskId: taskId(1), accountId: accountId(1), credits: credits(6) };
const held: HeldReservation = { ...reserved, state: "held" };

describe("a reservation", () => {
  it("subtracts its credits from the balance, down to zero but not below", () => {
    expect(holdCredits(credits(10), reserved)).toEqual(ok({ reservation: held, balance: 4 }));
    expect(holdCredits(credits(6), reserved)).toEqual(ok({ reservation: held, balance: 0 }));
    expect(holdCredits(credits(5), reserved)).toEqual(err({ kind: "insufficient_credits", balance: 5, cost: 6 }));
  });

  it("is captured or refunded with all its credits, and only while it is held", () => {
    expect(capture(held)).toEqual({ ...reserved, state: "captured" });
    expect(refund(held)).toEqual({ ...reserved, state: "refunded" });
  });
});

describe("reserve", () => {
  const standing = { accountId: accountId(1), credits: credits(7), activeTasks: 1 };
  const draft = { taskId: taskId(1), cost: credits(3) };

  it("takes the cost and one slot", () => {
    const reservation = { taskId: taskId(1), accountId: accountId(1), credits: 3, state: "held" };
    const after = { ...standing, credits: 4, activeTasks: 2 };
    expect(reserve(standing, draft, 2)).toEqual(ok({ reservation, standing: after }));
  });

  it("checks credits first, then the caller's check, then active tasks", () => {
    const refuse = () => err("closed" as const);
    const poor = { ...standing, credits: credits(2) };
    expect(reserve(poor, draft, 1, refuse)).toEqual(err({ kind: "insufficient_credits", balance: 2, cost: 3 }));
    expect(reserve(standing, draft, 1, refuse)).toEqual(err("closed"));
    expect(reserve(standing, draft, 1, () => ok(undefined))).toEqual(err({ kind: "too_many_active_tasks", limit: 1 }));
    const refused = reserve(poor, draft, 1, (): never => {
      throw new Error("checked without credits");
    });
    expect(refused.isErr()).toBe(true);
  });

  it("refuses an account with a debt, and names it", () => {
    const indebted = { ...standing, debt: credits(1) };
    const refused = { kind: "insufficient_credits", balance: 7, cost: 3, debt: 1 };
    expect(reserve(indebted, draft, 2)).toEqual(err(refused));
  });

  it("reports a balance that falls below the threshold of the account", () => {
    const told = (threshold: number) =>
      reserve({ ...standing, lowBalanceThreshold: credits(threshold) }, draft, 2)._unsafeUnwrap().lowBalance;
    const crossed = [5, 7].map((threshold) => ({ balance: 4, threshold }));
    expect([4, 5, 7, 8].map(told)).toEqual([undefined, ...crossed, undefined]);
  });

  it("is undone by release, but for the credits", () => {
    return fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), fc.nat(9), (balance, cost, activeTasks) => {
        const before = { accountId: accountId(1), credits: credits(balance + cost), activeTasks };
        const reserved = reserve(before, { taskId: taskId(1), cost: credits(cost) }, 10)._unsafeUnwrap();
        expect(release(reserved.standing)).toEqual({ ...before, credits: balance });
      }),
    );
  });
});
