import * as fc from "fast-check";
import { err, ok, type Result } from "neverthrow";
import { describe, expect, expectTypeOf, it } from "vitest";
import { accountId, taskId } from "../../../adapters/contracts/support/builders.js";
import { credits } from "../../../domain/credits/credits.js";
import {
  type InsufficientCredits,
  type ReserveResult,
  release,
  reserve,
  type TooManyActiveTasks,
} from "../../../domain/credits/reservation.js";

const standing = { accountId: accountId(1), credits: credits(7), activeTasks: 1 };
const draft = { taskId: taskId(1), cost: credits(3) };

describe("a reservation of credits and a slot", () => {
  it("takes the cost and one slot", () => {
    expect(reserve(standing, draft, 2)).toEqual(
      ok({
        reservation: { taskId: taskId(1), accountId: accountId(1), credits: 3, state: "held" },
        standing: { ...standing, credits: 4, activeTasks: 2 },
      }),
    );
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
    type Refused = InsufficientCredits | TooManyActiveTasks;
    expectTypeOf<ReturnType<typeof reserve<"closed">>>().toEqualTypeOf<Result<ReserveResult, Refused | "closed">>();
    expectTypeOf<ReturnType<typeof reserve>>().not.toEqualTypeOf<Result<ReserveResult, Refused | "closed">>();
  });

  it("reports a balance that falls below the threshold of the account", () => {
    const told = (threshold: number) =>
      reserve({ ...standing, lowBalanceThreshold: credits(threshold) }, draft, 2)._unsafeUnwrap().lowBalance;
    expect([4, 5, 7, 8].map(told)).toEqual([
      undefined,
      { balance: 4, threshold: 5 },
      { balance: 4, threshold: 7 },
      undefined,
    ]);
  });

  it("release frees the slot", () => {
    return fc.assert(
      fc.property(fc.nat(1000), fc.nat(1000), fc.nat(9), (balance, cost, activeTasks) => {
        const before = { accountId: accountId(1), credits: credits(balance + cost), activeTasks };
        const reserved = reserve(before, { taskId: taskId(1), cost: credits(cost) }, 10)._unsafeUnwrap();
        expect(release(reserved.standing)).toEqual({ ...before, credits: balance });
      }),
    );
  });
});
