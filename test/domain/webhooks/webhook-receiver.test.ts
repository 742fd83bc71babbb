import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noon, secondsAfter } from "../../../adapters/contracts/support/builders.js";
import type { AttemptResult } from "../../../domain/webhooks/webhook-delivery.js";
import {
  DOUBTFUL_PAUSE_MILLISECONDS_MAX,
  isProbed,
  newReceiver,
  ORIGIN_PAUSE_MILLISECONDS,
  originFreeAt,
  type Receiver,
  receiverAfter,
  UNVERIFIED_PAUSE_MILLISECONDS_MAX,
} from "../../../domain/webhooks/webhook-receiver.js";

const success: AttemptResult = { kind: "delivered", detail: "status 200" };
const refusal: AttemptResult = { kind: "failed", detail: "status 500", isGone: false };
const timeout: AttemptResult = { kind: "failed", detail: "timeout", isGone: false, isUnanswered: true };
const steady: Receiver = { verifiedAt: noon, failures: 0, nextAt: noon };

/** The pauses in seconds after `count` attempts with this result, each made when it is allowed. */
const pauses = (first: Receiver, result: AttemptResult, count: number): readonly number[] => {
  let receiver = first;
  return Array.from({ length: count }, () => {
    const now = receiver.nextAt;
    receiver = receiverAfter(receiver, result, now);
    return (receiver.nextAt.getTime() - now.getTime()) / 1000;
  });
};

describe("a receiver", () => {
  it("tries a new one once, then with growing pauses of up to an hour", () => {
    expect(isProbed(newReceiver(noon))).toBe(true);
    for (const failure of [refusal, timeout]) {
      expect(pauses(newReceiver(noon), failure, 12)).toEqual([
        5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600,
      ]);
    }
    expect(UNVERIFIED_PAUSE_MILLISECONDS_MAX).toBe(3_600_000);
  });

  it("becomes verified at its first confirmation, and keeps that time", () => {
    const verified = receiverAfter({ ...newReceiver(noon), failures: 3 }, success, secondsAfter(noon, 9));
    expect(verified).toEqual({ verifiedAt: secondsAfter(noon, 9), failures: 0, nextAt: secondsAfter(noon, 9) });
    expect(isProbed(verified)).toBe(false);
  });

  it("tries a silent verified one with one delivery at a time, at least every minute", () => {
    expect(pauses(steady, timeout, 6)).toEqual([5, 10, 20, 40, 60, 60]);
    expect(DOUBTFUL_PAUSE_MILLISECONDS_MAX).toBe(60_000);
    const doubtful = receiverAfter(steady, timeout, secondsAfter(noon, 1));
    expect(isProbed(doubtful)).toBe(true);
    expect(receiverAfter(doubtful, refusal, doubtful.nextAt)).toMatchObject({ failures: 2, verifiedAt: noon });
    const again = receiverAfter(doubtful, success, secondsAfter(noon, 9));
    expect(again).toEqual({ verifiedAt: noon, failures: 0, nextAt: secondsAfter(noon, 9) });
  });

  it("renews a steady one once a day", () => {
    const aDayLater = secondsAfter(noon, 24 * 60 * 60);
    expect(receiverAfter(steady, success, secondsAfter(aDayLater, -1))).toBe(steady);
    expect(receiverAfter(steady, success, aDayLater)).toEqual({ ...steady, nextAt: aDayLater });
  });

  it("a verified receiver stays steady after an error status and after a success", () => {
    expect(receiverAfter(steady, refusal, secondsAfter(noon, 1))).toBe(steady);
    expect(receiverAfter(steady, success, secondsAfter(noon, 1))).toBe(steady);
  });

  it.each([
    [20_000, 20_000],
    [7 * 3_600_000, 6 * 3_600_000],
  ])("with a requested pause of %i ms gets nothing for %i ms in every state", (asked, milliseconds) => {
    const busy: AttemptResult = { ...refusal, retryAfterMilliseconds: asked };
    const free = new Date(noon.getTime() + milliseconds);
    expect(receiverAfter(steady, busy, noon)).toEqual({ ...steady, nextAt: free });
    expect(receiverAfter(newReceiver(noon), busy, noon)).toEqual({ verifiedAt: undefined, failures: 1, nextAt: free });
  });

  it("once verified is never unverified, and is probed exactly while it has failures", () => {
    const results = fc.array(fc.constantFrom(success, refusal, timeout), { maxLength: 40 });
    return fc.assert(
      fc.property(results, (attempts) => {
        let receiver = newReceiver(noon);
        for (const result of attempts) {
          const now = receiver.nextAt;
          const next = receiverAfter(receiver, result, now);
          if (receiver.verifiedAt !== undefined) expect(next.verifiedAt).toEqual(receiver.verifiedAt);
          if (result.kind === "delivered") expect(isProbed(next)).toBe(false);
          else if (isProbed(next)) expect(next.nextAt.getTime()).toBeGreaterThanOrEqual(now.getTime() + 5_000);
          receiver = next;
        }
      }),
    );
  });

  it("leaves its origin free at once if it confirms, and 5 seconds after a failure", () => {
    expect(originFreeAt(success, noon)).toEqual(noon);
    expect(originFreeAt(refusal, noon)).toEqual(new Date(noon.getTime() + ORIGIN_PAUSE_MILLISECONDS));
    expect(ORIGIN_PAUSE_MILLISECONDS).toBe(5_000);
  });
});
