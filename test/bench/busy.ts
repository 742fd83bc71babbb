import { parseArgs } from "node:util";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import {
  BUSY_PROVIDERS,
  type BusyProvider,
  type BusyProviderFigures,
  type BusyProviderRun,
  runBusyProvider,
} from "../support/busy-provider-run.js";

/*
 * 200 creations of 40 accounts at once, with a fake provider that allows 10 calls a second and answers every third
 * creation with 429: `npm run bench busy`, with `-- --provider fal` for another one than Skybox. Once with a service
 * that runs through, once with one that is killed twice. Fails if a creation is not accepted or is started twice, if
 * not everything has ended within 150 seconds, or if a panorama is refunded, except after a kill where a lost
 * submission cannot always be found.
 */

const TASKS = 200;
const SECONDS_MAX = 150;
/** They find every submission whose answer a killed process did not record. */
const FIND_ALL: readonly BusyProvider[] = ["skybox", "worldlabs"];

const { values: options } = parseArgs({ options: { provider: { type: "string", default: "skybox" } } });
const provider = BUSY_PROVIDERS.find((name) => name === options.provider);
if (provider === undefined) throw new Error(`--provider must be one of ${BUSY_PROVIDERS.join(", ")}`);

const run: BusyProviderRun = {
  provider,
  accounts: 40,
  callsPerSecond: 10,
  generationMilliseconds: 5_000,
  killedAfter: [],
  timeoutSeconds: SECONDS_MAX + 60,
  // Webhooks report the ends; polls only find the few whose webhook came while the service was down.
  settings: { PROVIDER_POLL_MS: "15000", SUBMIT_TIMEOUT_MS: "15000", LEASE_MS: "15000" },
};

const isRight = (figures: BusyProviderFigures): boolean => {
  const { answers, ends, generations, startedTwice, creditsLeft, ledger, kills, seconds } = figures;
  const made = ends["succeeded, saved"] ?? 0;
  const refunded = ends["failed, nothing stored"] ?? 0;
  const mayRefund = kills > 0 && !FIND_ALL.includes(run.provider);
  return (
    answers[202] === TASKS &&
    made + refunded === TASKS &&
    (refunded === 0 || mayRefund) &&
    generations >= made &&
    startedTwice.length === 0 &&
    creditsLeft === refunded * PANORAMA_POLICY.prices["1k"] &&
    JSON.stringify(ledger) === JSON.stringify({ accounts: run.accounts, findings: [] }) &&
    seconds <= SECONDS_MAX
  );
};

let failed = false;
for (const killedAfter of [[], [60, 130]]) {
  const figures = await runBusyProvider({ ...run, killedAfter });
  console.log(figures);
  if (!isRight(figures)) failed = true;
}
if (failed) console.error(`FAILED: not every panorama was made once within ${SECONDS_MAX} seconds`);
process.exit(failed ? 1 : 0);
