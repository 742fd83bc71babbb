import { expect, it } from "vitest";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { runBusyProvider } from "../support/busy-provider-run.js";

/** `npm run bench busy` does the same with 200 panoramas and 10 calls per second, which takes minutes. */
it("makes all of 80 panoramas of 16 accounts, each once, with a provider that refuses every third creation, although the service is killed twice", async () => {
  const figures = await runBusyProvider({
    provider: "skybox",
    accounts: 16,
    callsPerSecond: 50,
    generationMilliseconds: 500,
    killedAfter: [24, 52],
    timeoutSeconds: 240,
    // What a killed process was doing is repeated after these times. On a busy machine, the provider needs seconds.
    settings: { SUBMIT_TIMEOUT_MS: "8000", LEASE_MS: "8000", PROVIDER_POLL_MS: "3000" },
  });
  // First, and whole: a partial match does not show how the others ended.
  expect(figures.ends).toEqual({ "succeeded, saved": 80 });
  expect(figures).toMatchObject({
    answers: { 202: 80 },
    startedTwice: [],
    generations: 80,
    kills: 2,
    creditsLeft: 0,
    ledger: { accounts: 16, findings: [] },
  });
  expect(figures.refusedCalls).toBeGreaterThanOrEqual(39);
});

// A submission whose answer was not recorded is found at World Labs. fal lists it when it has ended, the others never.
it.concurrent.each([
  ["fal", true],
  ["replicate", true],
  ["comfy", true],
  ["worldlabs", false],
] as const)(
  "starts each of 25 panoramas at most once with %s, and refunds what is lost in two kills",
  async (provider, mayRefund) => {
    const figures = await runBusyProvider({
      provider,
      accounts: 5,
      callsPerSecond: 50,
      generationMilliseconds: 500,
      killedAfter: [7, 16],
      latencyMilliseconds: 100,
      timeoutSeconds: 240,
      settings: { SUBMIT_TIMEOUT_MS: "3000", LEASE_MS: "3000", PROVIDER_POLL_MS: "1000" },
    });
    const refunded = figures.ends["failed, nothing stored"] ?? 0;
    expect(figures).toMatchObject({
      answers: { 202: 25 },
      ends: { "succeeded, saved": 25 - refunded },
      startedTwice: [],
      kills: 2,
      creditsLeft: refunded * PANORAMA_POLICY.prices["1k"],
      ledger: { accounts: 5, findings: [] },
    });
    expect(Object.keys(figures.ends).sort()).toEqual(
      refunded === 0 ? ["succeeded, saved"] : ["failed, nothing stored", "succeeded, saved"],
    );
    if (!mayRefund) expect(refunded).toBe(0);
    // A generation without a task is one whose task was refunded.
    expect(figures.generations - (25 - refunded)).toBeLessThanOrEqual(refunded);
  },
);
