import { expect, it } from "vitest";
import { runBusyProvider } from "../support/busy-provider-run.js";

/** `npm run bench:busy` does the same with 10 calls per second, which takes minutes. */
it("makes all of 200 panoramas of 40 accounts, each once, with a provider that refuses every third creation, although the service is killed twice", {
  timeout: 120_000,
}, async () => {
  const figures = await runBusyProvider({
    accounts: 40,
    callsPerSecond: 50,
    generationMilliseconds: 500,
    killedAfter: [60, 130],
    timeoutSeconds: 75,
    // What a killed process was doing is repeated after these times.
    settings: { SUBMIT_TIMEOUT_MS: "3000", LEASE_MS: "3000", PROVIDER_POLL_MS: "3000" },
  });
  expect(figures).toMatchObject({
    answers: { 202: 200 },
    ends: { "succeeded, saved": 200 },
    startedTwice: [],
    generations: 200,
    kills: 2,
    creditsLeft: 0,
    ledger: { accounts: 40, findings: [] },
  });
  expect(figures.refusedCalls).toBeGreaterThanOrEqual(99);
});
