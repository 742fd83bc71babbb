import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anEndpoint, noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import {
  type AttemptResult,
  afterAttempt,
  DELIVERY_MILLISECONDS,
  DELIVERY_PAUSE_MILLISECONDS_MAX,
  DELIVERY_STATES,
  type Delivery,
  giveUpDelivery,
  offReasonAfter,
} from "../../../domain/webhooks/webhook-delivery.js";
import { pendingAt } from "../../support/pending-at.js";

const failure: AttemptResult = { kind: "failed", detail: "status 500", isGone: false };
const gone: AttemptResult = { kind: "failed", detail: "status 410", isGone: true };
const success: AttemptResult = { kind: "delivered", detail: "status 200" };

/** The delivery after failures, each attempt made when it is due, and the pauses between them in seconds. */
const failUntilTheEnd = (): { readonly end: Delivery; readonly pauses: readonly number[] } => {
  let delivery: Delivery = pendingAt(noon);
  const pauses: number[] = [];
  for (let now = noon; delivery.state === "pending"; ) {
    delivery = afterAttempt(delivery, failure, now);
    if (delivery.state !== "pending") break;
    pauses.push((delivery.dueAt.getTime() - now.getTime()) / 1000);
    now = delivery.dueAt;
  }
  return { end: delivery, pauses };
};

describe("a delivery", () => {
  it("retries after 5, 10, 20 … seconds, at most 6 hours, and fails after exactly three days", () => {
    const { end, pauses } = failUntilTheEnd();
    expect(pauses.slice(0, 5)).toEqual([5, 10, 20, 40, 80]);
    expect(Math.max(...pauses)).toBe(6 * 60 * 60);
    expect(DELIVERY_PAUSE_MILLISECONDS_MAX).toBe(21_600_000);
    expect(DELIVERY_MILLISECONDS).toBe(259_200_000);
    expect(DELIVERY_STATES).toEqual(["pending", "delivered", "failed"]);
    expect(pauses.reduce((sum, seconds) => sum + seconds, 0) * 1000).toBe(DELIVERY_MILLISECONDS);
    expect(end).toEqual({
      state: "failed",
      attempts: pauses.length + 1,
      firstAttemptAt: noon,
      detail: "status 500",
      endedAt: new Date(noon.getTime() + DELIVERY_MILLISECONDS),
    });
  });

  it("reaches delivered or failed exactly once for random attempts", () => {
    const results = fc.array(
      fc.tuple(fc.constantFrom(failure, success, gone), fc.integer({ min: 0, max: 100_000_000 })),
      { minLength: 1, maxLength: 60 },
    );
    fc.assert(
      fc.property(results, (attempts) => {
        let delivery: Delivery = pendingAt(noon);
        let made = 0;
        for (const [result, late] of attempts) {
          if (delivery.state !== "pending") break;
          made += 1;
          const now = new Date(delivery.dueAt.getTime() + late);
          const first: Date = delivery.firstAttemptAt ?? now;
          delivery = afterAttempt(delivery, result, now);
          expect([delivery.attempts, delivery.firstAttemptAt, delivery.detail]).toEqual([made, first, result.detail]);
          if (result.kind === "delivered") expect(delivery.state).toBe("delivered");
          else if (result.isGone) expect(delivery.state).toBe("failed");
          if (delivery.state === "pending") {
            expect(delivery.dueAt.getTime()).toBeGreaterThan(now.getTime());
            expect(delivery.dueAt.getTime() - first.getTime()).toBeLessThanOrEqual(DELIVERY_MILLISECONDS);
          } else {
            expect(delivery.endedAt).toEqual(now);
          }
        }
      }),
    );
  });

  it.each([
    [3_600_000, 3_600_000],
    [1_000, 5_000],
    [7 * 3_600_000, 6 * 3_600_000],
  ])("waits for the pause of %i ms that its receiver asks for: %i ms", (asked, milliseconds) => {
    const next = afterAttempt(pendingAt(noon), { ...failure, retryAfterMilliseconds: asked }, noon);
    expect(next).toMatchObject({ state: "pending", dueAt: new Date(noon.getTime() + milliseconds) });
  });

  it("keeps its attempts when it is given up", () => {
    const tried = afterAttempt(pendingAt(noon), failure, noon);
    if (tried.state !== "pending") throw new Error("it is not pending");
    expect(giveUpDelivery(tried, "the endpoint is switched off", secondsAfter(noon, 1))).toEqual({
      state: "failed",
      attempts: 1,
      firstAttemptAt: noon,
      detail: "the endpoint is switched off",
      endedAt: secondsAfter(noon, 1),
    });
  });
});

describe("offReasonAfter", () => {
  const threeDaysLater = new Date(noon.getTime() + DELIVERY_MILLISECONDS);
  const failing = anEndpoint({ failingSince: noon });

  it.each([
    ["has failed for three days", failing, failure, threeDaysLater, "failing"],
    ["has failed for less", failing, failure, secondsAfter(threeDaysLater, -1), undefined],
    ["fails for the first time", anEndpoint(), failure, threeDaysLater, undefined],
    ["succeeds after three days", failing, success, threeDaysLater, undefined],
    ["is gone", anEndpoint(), gone, noon, "gone"],
    ["stands for the URLs of single tasks", { ...failing, url: undefined }, gone, threeDaysLater, undefined],
  ] as const)("an endpoint that %s", (_, endpoint, result, now, reason) => {
    expect(offReasonAfter(endpoint, result, now)).toBe(reason);
  });
});
