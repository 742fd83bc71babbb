import { type BusyProviderFigures, type BusyProviderRun, runBusyProvider } from "../support/busy-provider-run.js";

/*
 * 200 creations of 40 accounts at once, with a fake Skybox that allows 10 calls a second and answers every third creation
 * with 429: `npm run bench:busy`. Once with a service that runs through, once with one that is killed twice. Fails if a
 * creation is not accepted, is refunded or is started twice, or if not everything is saved within 150 seconds.
 */

const TASKS = 200;
const SECONDS_MAX = 150;
const run: BusyProviderRun = {
  accounts: 40,
  callsPerSecond: 10,
  generationMilliseconds: 5_000,
  killedAfter: [],
  timeoutSeconds: SECONDS_MAX + 60,
  // Webhooks report the ends; polls only find the few whose webhook came while the service was down.
  settings: { PROVIDER_POLL_MS: "15000", SUBMIT_TIMEOUT_MS: "15000", LEASE_MS: "15000" },
};

const isRight = (figures: BusyProviderFigures): boolean =>
  figures.answers[202] === TASKS &&
  figures.ends["succeeded, saved"] === TASKS &&
  figures.generations === TASKS &&
  figures.startedTwice.length === 0 &&
  figures.creditsLeft === 0 &&
  JSON.stringify(figures.ledger) === JSON.stringify({ accounts: run.accounts, findings: [] }) &&
  figures.seconds <= SECONDS_MAX;

let failed = false;
for (const killedAfter of [[], [60, 130]]) {
  const figures = await runBusyProvider({ ...run, killedAfter });
  console.log(figures);
  if (!isRight(figures)) failed = true;
}
if (failed) console.error(`FAILED: not every panorama was made once within ${SECONDS_MAX} seconds`);
process.exit(failed ? 1 : 0);
