import * as fc from "fast-check";
import { expect, it } from "vitest";
import { accountId, noon, secondsAfter, taskId } from "../../../adapters/contracts/support/builders.js";
import { credits } from "../../../domain/credits/credits.js";
import { balanceAfter, expireHolds, type OpenHold } from "../../../domain/credits/hold.js";

const MOST = 2_147_483_647;

const aHold = (amount: number, n: number): OpenHold => ({
  reservation: { taskId: taskId(n), accountId: accountId(1), credits: credits(amount), state: "held" },
  heldAt: noon,
  expiresAt: secondsAfter(noon, n),
  idempotent: undefined,
});

it("balanceAfter stays within 32 bits, held credits included", () => {
  const nearMost = fc.oneof(fc.nat(10), fc.integer({ min: MOST - 10, max: MOST }));
  const changes = fc.oneof(fc.integer({ min: -MOST, max: MOST }), fc.constantFrom(-2 * MOST, 2 * MOST));
  return fc.assert(
    fc.property(nearMost, fc.array(fc.nat(5), { maxLength: 3 }), changes, (total, amounts, change) => {
      const open = amounts.map(aHold);
      const balance = total - amounts.reduce((sum, amount) => sum + amount, 0);
      fc.pre(balance >= 0);
      const fits = Math.abs(change) <= MOST && balance + change >= -MOST && total + change <= MOST;
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
