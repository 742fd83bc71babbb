import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  longestPollMilliseconds,
  nextPollMilliseconds,
} from "../../../../../adapters/provider/remote/calls/poll-delay.js";

const young = { shortestMilliseconds: 2_400, sinceSubmissionMilliseconds: 60_000, blockedMilliseconds: 0 };
const old = { ...young, sinceSubmissionMilliseconds: 60_001 };

const between = (situation: typeof young) => [0, 0.5, 1].map((random) => nextPollMilliseconds(situation, () => random));

describe("nextPollMilliseconds", () => {
  it("is 3 seconds ± 20 % in the first minute", () => {
    expect(between(young)).toEqual([2_400, 3_000, 3_600]);
    expect(between({ ...young, sinceSubmissionMilliseconds: 0 })).toEqual([2_400, 3_000, 3_600]);
  });

  it("is 5 seconds ± 20 % after the first minute", () => {
    expect(between(old)).toEqual([4_000, 5_000, 6_000]);
  });

  it("is at least the operator's minimum", () => {
    expect(between({ ...young, shortestMilliseconds: 500 })).toEqual([500, 625, 750]);
  });

  it("postpones polls until calls are sent again, by at most 10 seconds, and then spreads them", () => {
    expect(between({ ...young, blockedMilliseconds: 8_000 })).toEqual([8_000, 8_600, 9_200]);
    expect(between({ ...old, blockedMilliseconds: 8_000 })).toEqual([8_000, 9_000, 10_000]);
    // Another instance may still reach the provider, and should get the task.
    expect(between({ ...young, blockedMilliseconds: 60_000 })).toEqual([10_000, 10_600, 11_200]);
    expect(between({ ...young, blockedMilliseconds: 100 })).toEqual([2_400, 3_000, 3_600]);
  });

  it("is at most longestPollMilliseconds, and reaches it", () => {
    const milliseconds = fc.nat({ max: 86_400_000 });
    fc.assert(
      fc.property(
        milliseconds,
        milliseconds,
        milliseconds,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (...numbers) => {
          const [shortestMilliseconds, sinceSubmissionMilliseconds, blockedMilliseconds, random] = numbers;
          const situation = { shortestMilliseconds, sinceSubmissionMilliseconds, blockedMilliseconds };
          const longest = longestPollMilliseconds(shortestMilliseconds);
          expect(nextPollMilliseconds(situation, () => random)).toBeLessThanOrEqual(longest);
        },
      ),
    );
    expect(longestPollMilliseconds(2_400)).toBe(12_000);
    expect(longestPollMilliseconds(60_000)).toBe(150_000);
  });
});
