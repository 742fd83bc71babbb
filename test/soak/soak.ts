import { randomUUID } from "node:crypto";
import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { migratePostgresDatabase } from "../../adapters/persistence/schema/migrate-postgres.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { RESOLUTIONS } from "../../domain/images/resolution.js";
import { readProcessMetrics } from "../bench/process-metrics.js";
import { quantile } from "../bench/statistics.js";
import { accountsWithKeys, secretsOf } from "../support/accounts-with-keys.js";
import type { UpstreamTask } from "../support/fake-provider.js";
import { FakeSkybox, SKYBOX_KEY } from "../support/fake-skybox.js";
import { FAULTS, refuses } from "../support/faulty-server.js";
import { PostgresServer } from "../support/postgres.js";
import { Installation } from "../support/service-process.js";
import { seamless } from "../support/test-images.js";

/*
 * The built service for minutes, at half of the throughput that is measured first, while faults happen at random: `npm
 * run verify soak -- --minutes 10`, with `--sqlite` for SQLite instead of PostgreSQL. In the first third of the time
 * the service is also restarted (SIGTERM, SIGKILL), in all of it the provider, the storage and PostgreSQL fail. Exits
 * with status 1 if the ledger is not clean, a task is lost, does not end or is started twice, or if memory, descriptors
 * or temporary files have grown from half a minute after the last restart to the end, both times without load.
 */

const ACCOUNTS = 150;
const KEYS_OF_EACH = 5;
const CREDITS = 1_000_000;
/** Of a key, in a minute; the service allows 10. */
const WRITES_OF_KEY = 8;
const READS_PER_CREATION = 3;
const CAPACITY_SECONDS = 10;
const CAPACITY_CLIENTS = 16;
const GENERATION_MILLISECONDS = 1_000;
/** Every tenth generation succeeds, so that image processing does not dominate; the others are refunded. */
const TASKS_PER_SUCCESS = 10;
const FAULT_SECONDS = { min: 3, max: 10 };
const SETTLING_SECONDS = 30;
const IDLE_SECONDS_MAX = 120;
const SAMPLES = 5;
/** Longer than the service and the clients keep idle connections open, and than a retry of a stored image takes. */
const CONNECTIONS_CLOSED_MILLISECONDS = 20_000;

/** What the last samples may be above those after the settling time. */
const TOLERANCE = { memoryRatio: 1.25, memoryBytes: 24 * 1024 * 1024, descriptors: 10, temporaryFiles: 5 };

const { values: options } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, sqlite: { type: "boolean", default: false } },
});
const seconds = Number(options.minutes) * 60;
if (!(seconds >= 60)) throw new Error("--minutes must be a number, 1 or more");

const provider = await FakeSkybox.start();
provider.plan = "run";
provider.picture = await seamless(RESOLUTIONS["1k"]).jpeg().toBuffer();
const postgres = options.sqlite ? undefined : await PostgresServer.start();
if (postgres !== undefined) await migratePostgresDatabase(postgres.url);
const service = await Installation.create({
  ...(postgres && { DATABASE_URL: postgres.url }),
  DEMO: "false",
  PROVIDER: "skybox",
  SKYBOX_API_KEY: SKYBOX_KEY,
  SKYBOX_BASE_URL: provider.baseUrl,
  PROVIDER_CALLS_PER_SECOND: "500",
  PROVIDER_MAX_CONCURRENT: "1000",
  PROVIDER_POLL_MS: "1000",
  SUBMIT_TIMEOUT_MS: "5000",
  LEASE_MS: "6000",
});
const openDatabase = () =>
  postgres === undefined
    ? openSqliteDatabase(join(service.dataDir, "panorama.sqlite"))
    : openPostgresDatabase(postgres.url, 2);

const problems: string[] = [];
const latencies: number[] = [];
const answers = new Map<string, number>();
const faults = new Map<string, number>();
const created = new Set<string>();
let isRunning = true;
let isPaused = false;

const ended = new Set<UpstreamTask>();
const ending = setInterval(() => {
  const oldest = Date.now() - GENERATION_MILLISECONDS;
  for (const task of provider.tasks) {
    if (ended.has(task) || (task.createdAt?.getTime() ?? 0) > oldest) continue;
    ended.add(task);
    task.state = ended.size % TASKS_PER_SUCCESS === 0 ? "succeed" : "fail";
  }
}, 100);

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

const send = async (key: string, path: string, init: RequestInit = {}): Promise<Response | undefined> => {
  const start = performance.now();
  const headers = { authorization: `Bearer ${key}`, ...init.headers };
  const signal = AbortSignal.timeout(30_000);
  const answer = await fetch(`${service.url}/api/v1${path}`, { ...init, headers, signal }).catch(() => undefined);
  count(answers, String(answer?.status ?? "no answer"));
  if (answer !== undefined) latencies.push(performance.now() - start);
  return answer;
};

/** One creation and some reads, as a customer makes them. */
const visit = async (key: string): Promise<boolean> => {
  const body = JSON.stringify({ prompt: `a lake ${randomUUID()}`, resolution: "1k" });
  const answer = await send(key, "/panoramas", { method: "POST", body });
  const { id } = ((await answer?.json().catch(() => undefined)) ?? {}) as { id?: string };
  if (id === undefined) return false;
  created.add(id);
  for (let n = 0; n < READS_PER_CREATION; n += 1) await (await send(key, `/panoramas/${id}`))?.arrayBuffer();
  return true;
};

/** Visits per second of as many clients as the service serves. */
const measureCapacity = async (keys: readonly string[]): Promise<number> => {
  let visits = 0;
  let next = 0;
  const start = performance.now();
  const client = async () => {
    while (performance.now() - start < CAPACITY_SECONDS * 1000) {
      if (await visit(keys[next++ % keys.length] as string)) visits += 1;
    }
  };
  await Promise.all(Array.from({ length: CAPACITY_CLIENTS }, client));
  return visits / CAPACITY_SECONDS;
};

/** Starts `perSecond` visits in every second, whether the earlier ones have ended or not. */
const load = async (keys: readonly string[], perSecond: number): Promise<void> => {
  const visits = new Set<Promise<unknown>>();
  const start = performance.now();
  for (let n = 0; isRunning; n += 1) {
    if (!isPaused) {
      const visited = visit(keys[n % keys.length] as string).finally(() => visits.delete(visited));
      visits.add(visited);
    }
    await setTimeout(Math.max(0, start + ((n + 1) * 1000) / perSecond - performance.now()));
  }
  await Promise.all(visits);
};

const restart = async (signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
  const status = await service.end(signal);
  if (signal === "SIGTERM" && status !== 0) problems.push(`the service ended with ${status} after SIGTERM`);
  await service.start();
};

const several = <T>(fault: T): T[] => Array.from({ length: 1 + Math.floor(Math.random() * 5) }, () => fault);

const RESTARTS: Readonly<Record<string, () => Promise<void>>> = {
  "restart by SIGTERM": () => restart("SIGTERM"),
  "restart by SIGKILL": () => restart("SIGKILL"),
};
const FAILURES: Readonly<Record<string, () => Promise<void>>> = {
  "provider refuses": async () => void provider.faults.creates.push(...several(refuses(400))),
  "provider is busy": async () => void provider.faults.creates.push(...several(refuses(429, { "retry-after": "1" }))),
  "provider cuts before": async () => void provider.faults.creates.push(...several(FAULTS.cutBefore)),
  "provider cuts after": async () => void provider.faults.creates.push(...several(FAULTS.cutAfter)),
  "polls fail": async () => void provider.faults.polls.push(...several(FAULTS.failsBefore)),
  "downloads fail": async () => void provider.faults.images.push(...several(FAULTS.cutAfter)),
  "storage is away": async () => {
    const objects = join(service.dataDir, "objects");
    renameSync(objects, `${objects}-away`);
    await setTimeout(1_500);
    renameSync(`${objects}-away`, objects);
  },
  ...(postgres && {
    "restart of PostgreSQL": async () => {
      await postgres.stop();
      await setTimeout(1_000);
      await postgres.restart();
    },
  }),
};

const fail = async (possible: Readonly<Record<string, () => Promise<void>>>, until: number): Promise<void> => {
  const names = Object.keys(possible);
  for (;;) {
    const pause = FAULT_SECONDS.min + Math.random() * (FAULT_SECONDS.max - FAULT_SECONDS.min);
    if (performance.now() + pause * 1000 > until) return;
    await setTimeout(pause * 1000);
    const name = names[Math.floor(Math.random() * names.length)] as string;
    count(faults, name);
    await possible[name]?.();
  }
};

type Sample = { readonly memoryBytes: number; readonly descriptors: number; readonly temporaryFiles: number };

const temporaryFiles = (): number =>
  readdirSync(service.dataDir, { recursive: true, withFileTypes: true }).filter(
    ({ name, parentPath }) => name.endsWith(".temporary") || parentPath.endsWith("uploads"),
  ).length;

/** The medians of some samples, one a second. */
const sample = async (): Promise<Sample> => {
  const samples: Sample[] = [];
  while (samples.length < SAMPLES) {
    const metrics = await readProcessMetrics(service.url).catch(() => undefined);
    if (metrics !== undefined) {
      samples.push({
        memoryBytes: metrics.residentBytes,
        descriptors: readdirSync(`/proc/${service.pid}/fd`).length,
        temporaryFiles: temporaryFiles(),
      });
    }
    await setTimeout(1_000);
  }
  const median = (name: keyof Sample) =>
    quantile(
      samples.map((one) => one[name]),
      0.5,
    );
  return {
    memoryBytes: median("memoryBytes"),
    descriptors: median("descriptors"),
    temporaryFiles: median("temporaryFiles"),
  };
};

/**
 * Clients open more connections while a fault makes them wait; without load, only the service's own descriptors are
 * left.
 */
const sampleWithoutLoad = async (): Promise<Sample> => {
  isPaused = true;
  await setTimeout(CONNECTIONS_CLOSED_MILLISECONDS);
  const taken = await sample();
  isPaused = false;
  return taken;
};

const compare = (settled: Sample, last: Sample): void => {
  const { memoryRatio, memoryBytes, ...absolute } = TOLERANCE;
  const memoryMax = settled.memoryBytes * memoryRatio + memoryBytes;
  if (last.memoryBytes > memoryMax)
    problems.push(`memory has grown from ${settled.memoryBytes} to ${last.memoryBytes}`);
  for (const name of ["descriptors", "temporaryFiles"] as const) {
    if (last[name] > settled[name] + absolute[name])
      problems.push(`${name} have grown from ${settled[name]} to ${last[name]}`);
  }
};

/** Waits until nothing is in progress, and compares the tasks with what customers and the provider have seen. */
const expectEveryTask = async (): Promise<void> => {
  const database = await openDatabase();
  const rows = (condition: string) => database.sql(`select id, state, storage_status from task where ${condition}`);
  const inProgress = "state not in ('succeeded', 'failed') or storage_status = 'uploading'";
  for (let waited = 0; (await rows(inProgress)).length > 0 && waited < IDLE_SECONDS_MAX; waited += 1) {
    await setTimeout(1_000);
  }
  for (const row of await rows(inProgress)) problems.push(`still in progress: ${JSON.stringify(row)}`);
  const known = new Set((await rows("true")).map(({ id }) => id));
  for (const id of created) if (!known.has(id)) problems.push(`task ${id} is lost`);
  const [ends] = await database.sql(
    `select count(*) as all_of_them, sum(case when storage_status in ('saved', 'saved-no-thumb') then 1 else 0 end) as saved,
    sum(case when storage_status in ('failed', 'expired') then 1 else 0 end) as not_saved from task`,
  );
  console.log(`tasks: ${JSON.stringify(ends)}`);
  await database.close();
  const prompts = provider.tasks.map(({ input }) => String(input.prompt));
  if (new Set(prompts).size < prompts.length) problems.push(`${prompts.length - new Set(prompts).size} started twice`);
};

try {
  const database = await openDatabase();
  const keys = secretsOf(await accountsWithKeys(database, ACCOUNTS, CREDITS, KEYS_OF_EACH));
  await database.close();
  await service.start();
  const capacity = await measureCapacity(keys);
  const perSecond = Math.min(capacity / 2, (keys.length * WRITES_OF_KEY) / 60);
  console.log(`capacity ${capacity.toFixed(0)} creations per second with their reads, load ${perSecond.toFixed(0)}`);
  latencies.length = 0;

  const start = performance.now();
  const loading = load(keys, perSecond);
  await fail({ ...RESTARTS, ...FAILURES }, start + (seconds / 3) * 1000);
  await restart("SIGTERM");
  await setTimeout(Math.min(SETTLING_SECONDS, seconds / 6) * 1000);
  const settled = await sampleWithoutLoad();
  await fail(FAILURES, start + seconds * 1000);
  const last = await sampleWithoutLoad();
  isRunning = false;
  await loading;

  await expectEveryTask();
  const verified = await service.command("ledger", "verify");
  if (verified.status !== 0) problems.push(`ledger: ${JSON.stringify(verified.json)}${verified.stderr}`);
  compare(settled, last);
  console.log(`faults: ${JSON.stringify(Object.fromEntries(faults))}`);
  console.log(`answers: ${JSON.stringify(Object.fromEntries(answers))}`);
  console.log(`settled: ${JSON.stringify(settled)}, last: ${JSON.stringify(last)}`);
  const milliseconds = [0.5, 0.99].map((share) => quantile(latencies, share).toFixed(0));
  console.log(`${latencies.length} answers: median ${milliseconds[0]} ms, p99 ${milliseconds[1]} ms, outages included`);
  if ((await service.end("SIGTERM")) !== 0) problems.push("the service did not end with status 0");
} finally {
  clearInterval(ending);
  await service.remove();
  await provider.close();
  await postgres?.remove();
}
for (const problem of problems) console.error(`FAILED: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);
