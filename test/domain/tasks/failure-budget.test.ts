import fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { aCreationRequest, noon } from "../../../adapters/contracts/support/builders.js";
import { dayOf } from "../../../domain/credits/budget.js";
import type { Failures } from "../../../domain/credits/standing.js";
import { panoramaPolicy, RATE_LIMITS } from "../../../domain/panorama-policy.js";
import { admitAfterFailures, bytesOf, failuresMax, withFailure } from "../../../domain/tasks/failure-budget.js";

const max = failuresMax(RATE_LIMITS.write);
const later = (minutes: number) => new Date(noon.getTime() + minutes * 60_000);

describe("the failures that an account may have in a day", () => {
  it("allows 2,000 failures and 32 MB of text per day, scaled with the write limit", () => {
    expect(max).toEqual({ count: 2_000, bytes: 32_768_000 });
    expect(failuresMax(panoramaPolicy({ writesPerMinute: 20 }).rates.write).count).toBe(4_000);
  });

  it("refuses creations from either maximum on until midnight UTC", () => {
    const at = (count: number, bytes: number, now = noon) =>
      admitAfterFailures({ day: dayOf(noon), count, bytes }, RATE_LIMITS.write, now);
    const refusedAtNoon = err({ kind: "too_many_failures", retryAfterSeconds: 12 * 60 * 60 });
    expect(at(max.count - 1, max.bytes - 1)).toEqual(ok(undefined));
    expect(at(max.count, 0)).toEqual(refusedAtNoon);
    expect(at(0, max.bytes)).toEqual(refusedAtNoon);
    const end = new Date(noon.getTime() + 12 * 60 * 60 * 1000);
    expect(at(max.count, 0, new Date(end.getTime() - 1))).toEqual(
      err({ kind: "too_many_failures", retryAfterSeconds: 1 }),
    );
    expect(at(max.count, max.bytes, end)).toEqual(ok(undefined));
    expect(admitAfterFailures(undefined, RATE_LIMITS.write, noon)).toEqual(ok(undefined));
  });

  it("counts only today's failures and bytes", () => {
    const failure = fc.record({
      minutes: fc.nat(3 * 24 * 60),
      prompt: fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
    });
    fc.assert(
      fc.property(fc.array(failure, { minLength: 1 }), (given) => {
        const all = given.toSorted((a, b) => a.minutes - b.minutes);
        let failures: Failures | undefined;
        for (const { minutes, prompt } of all) {
          failures = withFailure(failures, { ...aCreationRequest(), prompt }, later(minutes));
        }
        const day = dayOf(later(all.at(-1)?.minutes ?? 0));
        const ofDay = all.filter(({ minutes }) => dayOf(later(minutes)) === day);
        const bytes = ofDay.reduce((sum, { prompt }) => sum + Buffer.byteLength(prompt.toWellFormed()), 0);
        expect(failures).toEqual({ day, count: ofDay.length, bytes });
      }),
    );
  });

  it("counts UTF-8 bytes of prompt, URLs, metadata and webhook URL", () => {
    const request = aCreationRequest({
      prompt: "ä lake",
      image_urls: ["https://a.example/1"],
      metadata: { order: "7" },
      webhook_url: "https://b.example/2",
    });
    expect(bytesOf(request)).toBe(7 + 19 + 6 + 19);
    expect(bytesOf({ ...request, prompt: undefined, webhookUrl: undefined })).toBe(19 + 6);
  });
});
