import { expect, it } from "vitest";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { runBusyProvider } from "../support/busy-provider-run.js";

/** `npm run bench busy` does the same at Skybox, with 200 panoramas and 10 calls per second. It takes minutes. */
it("makes all of 50 panoramas of 10 accounts, each once, with a provider that refuses every third creation, although the service is killed twice", async () => {
  const figures = await runBusyProvider({
    // A submission whose answer was not recorded is always found there.
    provider: "worldlabs",
    accounts: 10,
    callsPerSecond: 50,
    generationMilliseconds: 500,
    killedAfter: [15, 32],
    timeoutSeconds: 240,
    // What a killed process was doing is repeated after these times. On a busy machine, the provider needs seconds.
    settings: { SUBMIT_TIMEOUT_MS: "8000", LEASE_MS: "8000", PROVIDER_POLL_MS: "3000" },
  });
  // First, and whole: a partial match does not show how the others ended.
  expect(figures.ends).toEqual({ "succeeded, saved": 50 });
  expect(figures).toMatchObject({
    answers: { 202: 50 },
    startedTwice: [],
    generations: 50,
    kills: 2,
    creditsLeft: 0,
    ledger: { accounts: 10, findings: [] },
  });
  expect(figures.refusedCalls).toBeGreaterThanOrEqual(24);
});

// fal lists a submission whose answer was not recorded when it has ended. The list of Skybox is trusted once it has
// shown another of ours. The others never find it.
it.concurrent.each(["skybox", "fal", "replicate", "comfy"] as const)(
  "starts each of 15 panoramas at most once with %s, and refunds losses of a kill",
  async (provider) => {
    const figures = await runBusyProvider({
      provider,
      accounts: 3,
      callsPerSecond: 50,
      generationMilliseconds: 500,
      killedAfter: [6],
      latencyMilliseconds: 100,
      timeoutSeconds: 240,
      settings: { SUBMIT_TIMEOUT_MS: "3000", LEASE_MS: "3000", PROVIDER_POLL_MS: "1000" },
    });
    const refunded = figures.ends["failed, nothing stored"] ?? 0;
    expect(figures).toMatchObject({
      answers: { 202: 15 },
      ends: { "succeeded, saved": 15 - refunded },
      startedTwice: [],
      kills: 1,
      creditsLeft: refunded * PANORAMA_POLICY.prices["1k"],
      ledger: { accounts: 3, findings: [] },
    });
    expect(Object.keys(figures.ends).sort()).toEqual(
      refunded === 0 ? ["succeeded, saved"] : ["failed, nothing stored", "succeeded, saved"],
    );
    // A generation without a task is one whose task was refunded.
    expect(figures.generations - (15 - refunded)).toBeLessThanOrEqual(refunded);
  },
);
