import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { migratePostgresDatabase } from "../../adapters/persistence/schema/migrate-postgres.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { SqlAccountStore } from "../../adapters/persistence/stores/accounts/sql-account-store.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { openAccount } from "../../application/accounts/open-account.js";
import type { Email } from "../../domain/accounts/account.js";
import { credits } from "../../domain/credits/credits.js";
import { RESOLUTIONS } from "../../domain/images/resolution.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { FakeReplicate, REPLICATE_KEY } from "../support/fake-replicate.js";
import { PostgresServer } from "../support/postgres.js";
import { RestClient, type Task } from "../support/rest-client.js";
import { Installation } from "../support/service-process.js";
import { seamless } from "../support/test-images.js";
import { during, type Phase } from "./phases.js";
import { readProcessMetrics } from "./process-metrics.js";
import { intervals, maxCountWithin, quantile } from "./statistics.js";

/*
 * Measures one instance with five thousand tasks in flight: `npm run bench in-flight`, with `-- --tasks 200` for a
 * quick run and `-- --postgres` for PostgreSQL instead of SQLite. The service runs in a child process, the fake
 * Replicate provider in this one, over HTTP. Fails if a task is polled too often, memory grows, or the ledger is wrong.
 */

const POLL_MILLISECONDS = 3_000;
const CALLS_PER_SECOND = 200;
/** Calls are counted in windows of this length: long enough that a burst of one second's calls hardly matters. */
const WINDOW_SECONDS = 10;
const LATENCY_MILLISECONDS = 150;
const CONCURRENT_CREATIONS = 32;
const IN_FLIGHT_SECONDS = 90;
const ENDING_SECONDS = 30;
/** Every fifth generation succeeds, so that image processing does not dominate; the others are refunded. */
const TASKS_PER_SUCCESS = 5;
const IDLE_SECONDS = 5;
const READ_PAUSE_MILLISECONDS = 100;
/** With fewer tasks, and so fewer accounts, the reads would exceed the accounts' rate limits. */
const TASKS_MIN = 50;
/** After this time the creations hold no memory any more, not even timeouts. */
const CREATIONS_RELEASED_SECONDS = 30;
/** Maximum ratio of the live heap at the end of the time in flight to that at its start. */
const HEAP_GROWTH_MAX = 1.1;
const COLLECTIONS = 3;
const STEP_TIMEOUT_SECONDS = 900;
const ACTIVE = "state in ('reserved', 'submitted', 'generated')";
const UPLOADING = "storage_status = 'uploading'";

const { values: options } = parseArgs({
  options: { tasks: { type: "string", default: "5000" }, postgres: { type: "boolean", default: false } },
});
const accountCount = Math.ceil(Number(options.tasks) / PANORAMA_POLICY.activeMax);
const taskCount = accountCount * PANORAMA_POLICY.activeMax;
if (!(taskCount >= TASKS_MIN)) throw new Error(`--tasks must be a number, ${TASKS_MIN} or more`);
const price = PANORAMA_POLICY.prices["1k"];

type Growth = { readonly earlyBytes: number; readonly lateBytes: number };
type Created = { readonly customer: RestClient; readonly id: string };

const provider = await FakeReplicate.start();
provider.plan = "run";
provider.picture = await seamless(RESOLUTIONS["1k"]).jpeg().toBuffer();
provider.server.latencyMilliseconds = LATENCY_MILLISECONDS;

const postgres = options.postgres ? await PostgresServer.start() : undefined;
if (postgres !== undefined) await migratePostgresDatabase(postgres.url);
const service = await Installation.create({
  ...(postgres && { DATABASE_URL: postgres.url }),
  DEMO: "false",
  PROVIDER: "replicate",
  REPLICATE_API_KEY: REPLICATE_KEY,
  REPLICATE_BASE_URL: provider.baseUrl,
  PROVIDER_POLL_MS: String(POLL_MILLISECONDS),
  PROVIDER_CALLS_PER_SECOND: String(CALLS_PER_SECOND),
  GENERATION_DEADLINE_MS: "3600000",
  NODE_OPTIONS: "--import ./test/bench/collect-on-signal.mjs",
});
const database = await (postgres === undefined
  ? openSqliteDatabase(join(service.dataDir, "panorama.sqlite"))
  : openPostgresDatabase(postgres.url, 2));

const phases: Phase[] = [];
const problems: string[] = [];

try {
  const keys = await openAccounts();
  await service.start();
  const customers = keys.map((key) => new RestClient(service.url, key));

  await step("idle", () => setTimeout(IDLE_SECONDS * 1000));
  const created = await step("creating", async () => {
    const all = await createAll(customers);
    await until("every task is with the provider", async () => provider.tasks.length >= taskCount);
    return all;
  });
  const [readMilliseconds, heap] = await step("in flight", () => Promise.all([readInTurn(created), measureHeap()]));
  const ends = await step("ending", async () => {
    const all = await endGenerations();
    await until("every task is settled", async () => (await count("task", ACTIVE)) === 0);
    return all;
  });
  await step("keeping", () => until("every image is kept", async () => (await count("task", UPLOADING)) === 0));
  await step("at rest", () => setTimeout(IDLE_SECONDS * 1000));

  reportPhases();
  reportTraffic(readMilliseconds, ends);
  reportHeap(heap);
  await reportLedgers();
} finally {
  await service.remove();
  await database.close();
  await provider.close();
  await postgres?.remove();
}

for (const problem of problems) console.error(`FAILED: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const { phase, result } = await during(name, service.url, work);
  phases.push(phase);
  return result;
}

/** Returns the accounts' API keys. The accounts have no password, because hashing it takes longest. */
async function openAccounts(): Promise<string[]> {
  const accounts = new SqlAccountStore(database);
  const open = openAccount({ accounts, clock: new SystemClock(), ids: new RandomIds(), secrets: new NodeSecrets() });
  const keys: string[] = [];
  for (let n = 1; n <= accountCount; n += 1) {
    const email = `customer-${n}@example.com` as Email;
    const opened = await open({ email, credits: credits(PANORAMA_POLICY.activeMax * price), keyName: "default" });
    keys.push(opened._unsafeUnwrap().secret ?? "");
  }
  return keys;
}

/** Creates the maximum number of active tasks for each customer. Returns them in the order of creation. */
async function createAll(customers: readonly RestClient[]): Promise<Created[]> {
  const created: Created[] = [];
  const orders = Array.from({ length: PANORAMA_POLICY.activeMax }, () => customers)
    .flat()
    .values();
  const create = async () => {
    for (const customer of orders) {
      const { id } = await customer.create({ prompt: "a quiet lake at dawn", resolution: "1k" });
      created.push({ customer, id });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_CREATIONS }, create));
  return created;
}

/** Customers read one of their tasks in turn. Returns the duration of each read in milliseconds. */
async function readInTurn(created: readonly Created[]): Promise<number[]> {
  const milliseconds: number[] = [];
  const end = performance.now() + IN_FLIGHT_SECONDS * 1000;
  while (performance.now() < end) {
    for (const { customer, id } of created) {
      const start = performance.now();
      const answer = await customer.request(`/panoramas/${id}`);
      const { status } = (await answer.json()) as Task;
      milliseconds.push(performance.now() - start);
      if (status !== "processing") throw new Error(`a task is ${status} while its generation still runs`);
      await setTimeout(READ_PAUSE_MILLISECONDS);
      if (performance.now() > end) break;
    }
  }
  return milliseconds;
}

/** The live heap at the start and at the end of the time in flight. */
async function measureHeap(): Promise<Growth> {
  await setTimeout(CREATIONS_RELEASED_SECONDS * 1000);
  const earlyBytes = await liveHeapBytes();
  await setTimeout((IN_FLIGHT_SECONDS - CREATIONS_RELEASED_SECONDS) * 1000);
  return { earlyBytes, lateBytes: await liveHeapBytes() };
}

/** The live heap: the minimum after several collections, since polls in flight and pending finalizers add to each. */
async function liveHeapBytes(): Promise<number> {
  const bytes: number[] = [];
  while (bytes.length < COLLECTIONS) {
    service.signal("SIGUSR2");
    await setTimeout(500); // signals are delivered asynchronously
    bytes.push((await readProcessMetrics(service.url)).heapBytes);
  }
  return Math.min(...bytes);
}

/** Ends the generations one after another, in the order of their creation. Returns when each has ended. */
async function endGenerations(): Promise<number[]> {
  const started = performance.now();
  const ends: number[] = [];
  for (const [n, generation] of provider.tasks.entries()) {
    generation.state = n % TASKS_PER_SUCCESS === 0 ? "succeed" : "fail";
    ends.push(performance.now());
    const due = started + (ENDING_SECONDS * 1000 * n) / taskCount;
    if (due > performance.now()) await setTimeout(due - performance.now());
  }
  return ends;
}

async function until(what: string, isDone: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + STEP_TIMEOUT_SECONDS * 1000;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error(`Timeout after ${STEP_TIMEOUT_SECONDS} s: ${what}.`);
    await setTimeout(500);
  }
}

async function count(table: string, condition: string): Promise<number> {
  const [row] = await database.sql(`select count(*) as count from ${table} where ${condition}`);
  return Number(row?.count);
}

function expect(isRight: boolean, problem: string): void {
  if (!isRight) problems.push(problem);
}

function reportPhases(): void {
  const database = postgres === undefined ? "SQLite" : "PostgreSQL";
  console.log(
    `${taskCount} tasks of ${accountCount} accounts on ${database}; the provider answers after ${LATENCY_MILLISECONDS} ms.`,
  );
  console.log(`One generation in ${TASKS_PER_SUCCESS} succeeds and its image is kept, the others are refunded.\n`);
  console.log("                      RSS in MB     heap in MB    CPU   loop lag   calls a second");
  console.log("phase      seconds   median  max       median      %    p99, ms       mean    max");
  for (const { name, from, to, samples } of phases) {
    const seconds = (to - from) / 1000;
    const resident = samples.map(({ residentBytes }) => residentBytes / 1e6);
    const heap = samples.map(({ heapBytes }) => heapBytes / 1e6);
    const lags = samples.slice(1).map(({ lagSeconds }) => lagSeconds * 1000);
    const cpuSeconds = (samples.at(-1)?.cpuSeconds ?? 0) - (samples[0]?.cpuSeconds ?? 0);
    const called = calls().filter((at) => at >= from && at < to);
    console.log(
      name.padEnd(9) +
        seconds.toFixed(0).padStart(9) +
        quantile(resident, 0.5).toFixed(0).padStart(9) +
        quantile(resident, 1).toFixed(0).padStart(5) +
        quantile(heap, 0.5).toFixed(0).padStart(13) +
        ((100 * cpuSeconds) / seconds).toFixed(0).padStart(7) +
        quantile(lags, 0.5).toFixed(0).padStart(11) +
        (called.length / seconds).toFixed(0).padStart(11) +
        maxCountWithin(1000, called).toFixed(0).padStart(7),
    );
  }
}

/** The times of all calls to the provider's API, without image downloads. */
function calls(): number[] {
  return provider.server.requests.filter(({ path }) => path.startsWith("/v1/")).map(({ at }) => at);
}

function reportTraffic(readMilliseconds: readonly number[], ends: readonly number[]): void {
  const pollsByPath = new Map<string, number[]>(provider.tasks.map(({ id }) => [`/v1/predictions/${id}`, []]));
  for (const { path, at } of provider.server.requests) pollsByPath.get(path)?.push(at);
  const polls = [...pollsByPath.values()];
  const pollIntervals = polls.flatMap(intervals);
  const shortest = quantile(pollIntervals, 0);
  const detectionDelays = polls.map((moments, n) => (moments.at(-1) ?? Number.NaN) - (ends[n] ?? Number.NaN));
  const busiest = maxCountWithin(WINDOW_SECONDS * 1000, calls());
  const [p50, p99] = [quantile(readMilliseconds, 0.5), quantile(readMilliseconds, 0.99)];

  console.log(`\ngenerations            ${provider.tasks.length} for ${taskCount} tasks`);
  console.log(`polls of a task        ${range(polls.map(({ length }) => length))}`);
  console.log(
    `interval of polls      ${range(pollIntervals.map(inSeconds), 1)} s; the minimum is ${inSeconds(POLL_MILLISECONDS)} s`,
  );
  console.log(`end is detected after  ${range(detectionDelays.map(inSeconds), 1)} s`);
  console.log(`most calls in ${WINDOW_SECONDS} s     ${busiest}; the limit is ${CALLS_PER_SECOND} a second`);
  console.log(`reading a task         p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, while all are in flight`);

  expect(provider.tasks.length === taskCount, "the number of generations differs from the number of tasks");
  expect(shortest >= POLL_MILLISECONDS, `a task was polled again after ${shortest.toFixed(0)} ms`);
  const callsMax = CALLS_PER_SECOND * (WINDOW_SECONDS + 1);
  expect(busiest <= callsMax, `the provider was called ${busiest} times in ${WINDOW_SECONDS} s, more than ${callsMax}`);
}

function inSeconds(milliseconds: number): number {
  return milliseconds / 1000;
}

function range(numbers: readonly number[], digits = 0): string {
  const [least, median, most] = [0, 0.5, 1].map((share) => quantile(numbers, share).toFixed(digits));
  return `${least} to ${most}, median ${median}`;
}

function reportHeap({ earlyBytes, lateBytes }: Growth): void {
  const [early, late] = [earlyBytes, lateBytes].map((bytes) => `${(bytes / 1e6).toFixed(1)} MB`);
  const seconds = IN_FLIGHT_SECONDS - CREATIONS_RELEASED_SECONDS;
  console.log(`live heap              ${early}, and ${late} after ${seconds} s more in flight`);
  expect(
    lateBytes <= earlyBytes * HEAP_GROWTH_MAX,
    `memory grew by more than ${Math.round((HEAP_GROWTH_MAX - 1) * 100)} %`,
  );
}

async function reportLedgers(): Promise<void> {
  const saved = await count("task", "state = 'succeeded' and storage_status = 'saved'");
  const failed = await count("task", "state = 'failed'");
  const refunds = await count("ledger_entry", "kind = 'refund'");
  const { status, json } = await service.command("ledger", "verify");
  console.log(`at the end             ${saved} saved, ${failed} failed, ${refunds} refunds; ${JSON.stringify(json)}`);

  const successes = taskCount / TASKS_PER_SUCCESS;
  expect(saved === successes, `${successes} images should be kept`);
  expect(failed === taskCount - successes, `${taskCount - successes} tasks should have failed`);
  expect(refunds === failed, "not every failed task was refunded once");
  expect(status === 0, "panorama ledger verify reports findings");
  expect(!service.log.includes('"event":"work_failed"'), "background work threw");
}
