import * as fc from "fast-check";
import { err, ok } from "neverthrow";
import { expect, it } from "vitest";
import { accountId, noon, secondsAfter, taskId } from "../../../adapters/contracts/support/builders.js";
import { credits } from "../../../domain/credits/credits.js";
import {
  balanceAfter,
  type CapturedHold,
  expireHolds,
  type OpenHold,
  refundCaptured,
} from "../../../domain/credits/hold.js";
import { sumOf } from "../../../domain/credits/ledger.js";

const owner = accountId(1);

const aHold = (n: number, amount: number, seconds: number): OpenHold => ({
  reservation: { taskId: taskId(n), accountId: owner, credits: credits(amount), state: "held" },
  heldAt: noon,
  expiresAt: secondsAfter(noon, seconds),
  idempotent: undefined,
});

it("expireHolds refunds only expired holds, oldest expiry first", () => {
  const open = [aHold(1, 3, 20), aHold(2, 4, 10), aHold(3, 5, 21)];
  const refund = (n: number, amount: number, seconds: number) => ({
    kind: "refund",
    accountId: owner,
    taskId: taskId(n),
    credits: amount,
    at: secondsAfter(noon, seconds),
  });
  expect(expireHolds({ credits: credits(1), open }, secondsAfter(noon, 20))).toEqual({
    credits: 8,
    open: [open[2]],
    refunded: [open[1], open[0]].map((hold) => ({ ...hold, reservation: { ...hold?.reservation, state: "refunded" } })),
    entries: [refund(2, 4, 10), refund(1, 3, 20)],
  });
});

it("expireHolds gives the same result in one call or in several", () => {
  const holds = fc.array(fc.tuple(fc.nat(9), fc.nat(20)), { maxLength: 6 });
  return fc.assert(
    fc.property(holds, fc.array(fc.nat(20), { maxLength: 5 }), (amounts, looks) => {
      const open = amounts.map(([amount, seconds], n) => aHold(n, amount, seconds));
      const atOnce = expireHolds({ credits: credits(7), open }, secondsAfter(noon, 20));
      let account = { credits: 7, open: open as readonly OpenHold[] };
      const entries = [];
      for (const seconds of [...looks.sort((a, b) => a - b), 20]) {
        const expiry = expireHolds(account, secondsAfter(noon, seconds));
        account = { credits: expiry.credits, open: expiry.open };
        entries.push(...expiry.entries);
      }
      expect(entries).toEqual(atOnce.entries);
      expect(account.credits).toBe(7 + sumOf(entries));
      expect(account).toEqual({ credits: atOnce.credits, open: atOnce.open });
    }),
  );
});

it("refundCaptured returns what is left of the captured credits, or a part of it", () => {
  const captured = (refunded: number): CapturedHold => ({
    ...aHold(1, 5, 1),
    reservation: { ...aHold(1, 5, 1).reservation, state: "captured" },
    captured: credits(4),
    refunded: credits(refunded),
  });
  const refunded = (amount: number, before = 0) => ok({ hold: captured(before + amount), credits: credits(amount) });
  const tooHigh = (refundable: number) => err({ kind: "refund_too_high", refundable });
  expect(refundCaptured(captured(0))).toEqual(refunded(4));
  expect(refundCaptured(captured(0), credits(4))).toEqual(refunded(4));
  expect(refundCaptured(captured(1), credits(2))).toEqual(refunded(2, 1));
  expect(refundCaptured(captured(1), credits(4))).toEqual(tooHigh(3));
  expect(refundCaptured(captured(4))).toEqual(tooHigh(0));
});

it("balanceAfter stays within 32 bits, held credits included", () => {
  const most = 2_147_483_647;
  const nearMost = fc.oneof(fc.nat(10), fc.integer({ min: most - 10, max: most }));
  const changes = fc.oneof(fc.integer({ min: -most, max: most }), fc.constantFrom(-2 * most, 2 * most));
  const fitting = (balance: number, held: number, change: number) => () =>
    balanceAfter({ credits: balance, open: [aHold(1, held, 1)] }, change);
  for (const [balance, held, change] of [
    [0, 0, most],
    [0, 0, -most],
    [most - 5, 5, 0],
    [most - 6, 5, 1],
  ] as const) {
    expect(fitting(balance, held, change)()).toBe(balance + change);
  }
  expect(fitting(-9, 0, most + 1)).toThrow("-9 credits, beside 0 that are held, cannot change by 2147483648");
  expect(fitting(-1, 0, -most)).toThrow(RangeError);
  expect(fitting(most - 5, 5, 1)).toThrow(RangeError);
  return fc.assert(
    fc.property(nearMost, fc.array(fc.nat(5), { maxLength: 3 }), changes, (total, amounts, change) => {
      const open = amounts.map((amount, n) => aHold(n, amount, n));
      const balance = total - amounts.reduce((sum, amount) => sum + amount, 0);
      fc.pre(balance >= 0);
      const fits = Math.abs(change) <= most && balance + change >= -most && total + change <= most;
      const after = () => balanceAfter({ credits: balance, open }, change);
      if (!fits) {
        expect(after).toThrow(RangeError);
        return;
      }
      expect(after()).toBe(balance + change);
      expect(expireHolds({ credits: after(), open }, secondsAfter(noon, 9)).credits).toBe(total + change);
    }),
  );
});
