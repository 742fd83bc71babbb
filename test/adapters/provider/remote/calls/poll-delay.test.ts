import { expect, it } from "vitest";
import { nextPollMilliseconds } from "../../../../../adapters/provider/remote/calls/poll-delay.js";

const young = { shortestMilliseconds: 2_400, sinceSubmissionMilliseconds: 60_000, silentMilliseconds: 0 };
const old = { ...young, sinceSubmissionMilliseconds: 60_001 };

const between = (situation: typeof young) => [0, 0.5, 1].map((random) => nextPollMilliseconds(situation, () => random));

it("looks every 3 seconds for a minute, 20 % sooner or later so that looks spread", () => {
  expect(between(young)).toEqual([2_400, 3_000, 3_600]);
  expect(between({ ...young, sinceSubmissionMilliseconds: 0 })).toEqual([2_400, 3_000, 3_600]);
});

it("looks every 5 seconds at what has taken longer than a minute", () => {
  expect(between(old)).toEqual([4_000, 5_000, 6_000]);
});

it("never looks sooner than the operator's shortest time", () => {
  expect(between({ ...young, shortestMilliseconds: 500 })).toEqual([500, 625, 750]);
});

it("does not look while the provider is asked nothing, and spreads the looks after that", () => {
  expect(between({ ...young, silentMilliseconds: 8_000 })).toEqual([8_000, 8_600, 9_200]);
  expect(between({ ...old, silentMilliseconds: 8_000 })).toEqual([8_000, 9_000, 10_000]);
  // Another instance, which the provider answers, is to find the task again.
  expect(between({ ...young, silentMilliseconds: 60_000 })).toEqual([10_000, 10_600, 11_200]);
  expect(between({ ...young, silentMilliseconds: 100 })).toEqual([2_400, 3_000, 3_600]);
});
