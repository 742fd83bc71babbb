import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openDatabase } from "../../adapters/persistence/database.js";
import { migratePostgresDatabase, openPostgresDatabase } from "../../adapters/persistence/postgres-database.js";
import { SqlAccountStore } from "../../adapters/persistence/sql-account-store.js";
import { NodeSecrets } from "../../adapters/system/node-secrets.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { openAccount } from "../../application/accounts/open-account.js";
import type { Email } from "../../domain/account.js";
import { ACTIVE_TASKS_MAX } from "../../domain/concurrency-limit.js";
import { credits } from "../../domain/credits.js";
import { RESOLUTIONS } from "../../domain/resolution.js";
import { FakeReplicate, REPLICATE_KEY } from "../support/fake-replicate.js";
import { PostgresServer } from "../support/postgres.js";
import { RestClient, type Task } from "../support/rest-client.js";
import { Installation } from "../support/service-process.js";
import { seamless } from "../support/test-images.js";
import { during, type Phase } from "./phases.js";
import { gaps, mostWithin, quantile } from "./statistics.js";
import { readVitalSigns } from "./vital-signs.js";

/*
 * Five thousand tasks in flight on one instance: `npm run bench:in-flight`, with `-- --tasks 200` for a quick try and
 * `-- --postgres` for another database than SQLite. The service is a process of its own; its provider is the fake of
 * Replicate, over HTTP, in this process. Fails if a task is looked at too often, memory grows, or the ledger are wrong.
 */

const POLL_MILLISECONDS = 3_000;
const CALLS_PER_SECOND = 200;
/** A stretch long enough for a burst at its start, of the calls of one second, not to matter. */
const STRETCH_SECONDS = 10;
const LATENCY_MILLISECONDS = 150;
const CREATIONS_AT_ONCE = 32;
const IN_FLIGHT_SECONDS = 90;
const ENDING_SECONDS = 30;
/** One generation in so many succeeds, so that it is not the image work that is measured; the others are refunded. */
const SUCCESSES_ARE_ONE_IN = 5;
const IDLE_SECONDS = 5;
const READ_MILLISECONDS = 100;
/** Fewer accounts would come to their rate limit with the reads. */
const TASKS_MIN = 50;
/** By then nothing of the creations is left, not even their time-outs. */
const CREATIONS_FORGOTTEN_SECONDS = 30;
/** How much larger what is kept on the heap may be at the end of the time in flight. */
const GROWTH_MAX = 1.1;
const COLLECTIONS = 3;
const PATIENCE_SECONDS = 900;
const ACTIVE = "state in ('reserved', 'submitted')";
const UPLOADING = "storage_status = 'uploading'";

const { values: options } = parseArgs({
  options: { tasks: { type: "string", default: "5000" }, postgres: { type: "boolean", default: false } },
});
const accountCount = Math.ceil(Number(options.tasks) / ACTIVE_TASKS_MAX);
const taskCount = accountCount * ACTIVE_TASKS_MAX;
if (!(taskCount >= TASKS_MIN)) throw new Error(`--tasks must be a number, ${TASKS_MIN} or more`);
const price = RESOLUTIONS["1k"].credits;

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
  ? openDatabase(join(service.dataDir, "panorama.sqlite"))
  : openPostgresDatabase(postgres.url, 2));

const phases: Phase[] = [];
const complaints: string[] = [];

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
  const [readMilliseconds, heap] = await step("in flight", () => Promise.all([readInTurn(created), weighHeap()]));
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

for (const complaint of complaints) console.error(`NOT RIGHT: ${complaint}`);
process.exit(complaints.length > 0 ? 1 : 0);

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const { phase, result } = await during(name, service.url, work);
  phases.push(phase);
  return result;
}

/** The accounts' keys. They are made without a password, whose hash would take longest. */
async function openAccounts(): Promise<string[]> {
  const accounts = new SqlAccountStore(database);
  const open = openAccount({ accounts, clock: new SystemClock(), ids: new RandomIds(), secrets: new NodeSecrets() });
  const keys: string[] = [];
  for (let n = 1; n <= accountCount; n += 1) {
    const email = `customer-${n}@example.com` as Email;
    const opened = await open({ email, credits: credits(ACTIVE_TASKS_MAX * price), keyName: "default" });
    keys.push(opened._unsafeUnwrap().secret ?? "");
  }
  return keys;
}

/** As many tasks for each customer as it may have at a time, in the order of their creation. */
async function createAll(customers: readonly RestClient[]): Promise<Created[]> {
  const created: Created[] = [];
  const orders = Array.from({ length: ACTIVE_TASKS_MAX }, () => customers)
    .flat()
    .values();
  const create = async () => {
    for (const customer of orders) {
      const { id } = await customer.create({ prompt: "a quiet lake at dawn", resolution: "1k" });
      created.push({ customer, id });
    }
  };
  await Promise.all(Array.from({ length: CREATIONS_AT_ONCE }, create));
  return created;
}

/** One customer after the other asks after a task: how long each answer takes. */
async function readInTurn(created: readonly Created[]): Promise<number[]> {
  const milliseconds: number[] = [];
  const end = performance.now() + IN_FLIGHT_SECONDS * 1000;
  while (performance.now() < end) {
    for (const { customer, id } of created) {
      const asked = performance.now();
      const answer = await customer.request(`/panoramas/${id}`);
      const { status } = (await answer.json()) as Task;
      milliseconds.push(performance.now() - asked);
      if (status !== "processing") throw new Error(`a task is ${status}, but its generation still runs`);
      await setTimeout(READ_MILLISECONDS);
      if (performance.now() > end) break;
    }
  }
  return milliseconds;
}

/** What the service keeps on its heap, early and late in the time in flight. */
async function weighHeap(): Promise<Growth> {
  await setTimeout(CREATIONS_FORGOTTEN_SECONDS * 1000);
  const earlyBytes = await keptBytes();
  await setTimeout((IN_FLIGHT_SECONDS - CREATIONS_FORGOTTEN_SECONDS) * 1000);
  return { earlyBytes, lateBytes: await keptBytes() };
}

/** The least of several collections: each sees a few megabytes of looks on their way, and finalizers run after it. */
async function keptBytes(): Promise<number> {
  const bytes: number[] = [];
  while (bytes.length < COLLECTIONS) {
    service.signal("SIGUSR2");
    await setTimeout(500); // the signal comes when it comes
    bytes.push((await readVitalSigns(service.url)).heapBytes);
  }
  return Math.min(...bytes);
}

/** Lets the generations end one after the other, in the order of their creation; gives when each has ended. */
async function endGenerations(): Promise<number[]> {
  const started = performance.now();
  const ends: number[] = [];
  for (const [n, generation] of provider.tasks.entries()) {
    generation.state = n % SUCCESSES_ARE_ONE_IN === 0 ? "succeed" : "fail";
    ends.push(performance.now());
    const due = started + (ENDING_SECONDS * 1000 * n) / taskCount;
    if (due > performance.now()) await setTimeout(due - performance.now());
  }
  return ends;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_SECONDS * 1000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Not within ${PATIENCE_SECONDS} s: ${what}.`);
    await setTimeout(500);
  }
}

async function count(table: string, condition: string): Promise<number> {
  const [row] = await database.sql(`select count(*) as count from ${table} where ${condition}`);
  return Number(row?.count);
}

function expect(right: boolean, complaint: string): void {
  if (!right) complaints.push(complaint);
}

function reportPhases(): void {
  const database = postgres === undefined ? "SQLite" : "PostgreSQL";
  console.log(
    `${taskCount} tasks of ${accountCount} accounts on ${database}; the provider answers after ${LATENCY_MILLISECONDS} ms.`,
  );
  console.log(`One generation in ${SUCCESSES_ARE_ONE_IN} succeeds and its image is kept, the others are refunded.\n`);
  console.log("                      RSS in MB     heap in MB    CPU   loop lag   calls a second");
  console.log("phase      seconds   median  max       median      %    p99, ms       mean    max");
  for (const { name, from, to, signs } of phases) {
    const seconds = (to - from) / 1000;
    const resident = signs.map(({ residentBytes }) => residentBytes / 1e6);
    const heap = signs.map(({ heapBytes }) => heapBytes / 1e6);
    const lags = signs.slice(1).map(({ lagSeconds }) => lagSeconds * 1000);
    const cpuSeconds = (signs.at(-1)?.cpuSeconds ?? 0) - (signs[0]?.cpuSeconds ?? 0);
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
        mostWithin(1000, called).toFixed(0).padStart(7),
    );
  }
}

/** When the provider was called, but for the images themselves. */
function calls(): number[] {
  return provider.server.requests.filter(({ path }) => path.startsWith("/v1/")).map(({ at }) => at);
}

function reportTraffic(readMilliseconds: readonly number[], ends: readonly number[]): void {
  const looksAt = new Map<string, number[]>(provider.tasks.map(({ id }) => [`/v1/predictions/${id}`, []]));
  for (const { path, at } of provider.server.requests) looksAt.get(path)?.push(at);
  const looks = [...looksAt.values()];
  const between = looks.flatMap(gaps);
  const shortest = quantile(between, 0);
  const unseen = looks.map((moments, n) => (moments.at(-1) ?? Number.NaN) - (ends[n] ?? Number.NaN));
  const busiest = mostWithin(STRETCH_SECONDS * 1000, calls());
  const [p50, p99] = [quantile(readMilliseconds, 0.5), quantile(readMilliseconds, 0.99)];

  console.log(`\ngenerations            ${provider.tasks.length} for ${taskCount} tasks`);
  console.log(`looks at a task        ${range(looks.map(({ length }) => length))}`);
  console.log(
    `between two of them    ${range(between.map(inSeconds), 1)} s; never less than ${inSeconds(POLL_MILLISECONDS)} s`,
  );
  console.log(`an end is seen after   ${range(unseen.map(inSeconds), 1)} s`);
  console.log(`most calls in ${STRETCH_SECONDS} s     ${busiest}; the limit is ${CALLS_PER_SECOND} a second`);
  console.log(`reading a task         p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, while all are in flight`);

  expect(provider.tasks.length === taskCount, "there is not one generation for each task");
  expect(shortest >= POLL_MILLISECONDS, `a task was looked at again after ${shortest.toFixed(0)} ms`);
  const callsMax = CALLS_PER_SECOND * (STRETCH_SECONDS + 1);
  expect(
    busiest <= callsMax,
    `the provider was called ${busiest} times in ${STRETCH_SECONDS} s, more than ${callsMax}`,
  );
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
  const seconds = IN_FLIGHT_SECONDS - CREATIONS_FORGOTTEN_SECONDS;
  console.log(`kept on the heap       ${early}, and ${late} after ${seconds} s more in flight`);
  expect(lateBytes <= earlyBytes * GROWTH_MAX, `memory grew by more than ${Math.round((GROWTH_MAX - 1) * 100)} %`);
}

async function reportLedgers(): Promise<void> {
  const saved = await count("task", "state = 'succeeded' and storage_status = 'saved'");
  const failed = await count("task", "state = 'failed'");
  const refunds = await count("ledger_entry", "kind = 'refund'");
  const { status, json } = await service.command("ledger", "verify");
  console.log(`at the end             ${saved} saved, ${failed} failed, ${refunds} refunds; ${JSON.stringify(json)}`);

  const successes = taskCount / SUCCESSES_ARE_ONE_IN;
  expect(saved === successes, `${successes} images should be kept`);
  expect(failed === taskCount - successes, `${taskCount - successes} tasks should have failed`);
  expect(refunds === failed, "not every failed task was refunded once");
  expect(status === 0, "panorama ledger verify found something");
  expect(!service.log.includes('"event":"work_failed"'), "background work has thrown");
}
