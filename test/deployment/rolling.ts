import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import sharp from "sharp";
import { Agent, FormData, fetch, type RequestInit } from "undici";
import { openPostgresDatabase } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import { quantile } from "../bench/statistics.js";
import { accountsWithKeys, secretsOf } from "../support/accounts-with-keys.js";
import { Nginx } from "../support/nginx.js";
import { PostgresServer } from "../support/postgres.js";
import { S3Server } from "../support/s3-server.js";
import { Installation } from "../support/service-process.js";

/*
 * A restart of every instance under load: `npm run verify rolling`. Three instances behind nginx, configured as
 * bootstrap/deployment/nginx.conf shows, on one PostgreSQL and one bucket. Customers create panoramas, poll them and
 * upload images without any retry, while one instance after the other is restarted, `--rounds` times each. At the end
 * each instance is killed once. Fails if one request fails, a task is lost or does not end, or the ledger is not exact.
 *
 * nginx may not repeat every POST. Those that it may not are not sent while an instance is killed.
 */

const CUSTOMERS = 12;
const KEYS_OF_EACH = 4;
const CREDITS = 10_000;
/** A key may make ten writes and sixty reads in a minute. */
const VISIT_MILLISECONDS = 8_000;
const POLL_MILLISECONDS = 1_250;
/** Longer than nginx leaves out an instance that it could not reach (`fail_timeout`). */
const BETWEEN_RESTARTS_MILLISECONDS = 2_000;
const END_SECONDS = 90;
const PROBERS = 8;
const PROBE_MILLISECONDS = 20;
/** Some creations become panoramas; the others fail and are refunded. */
const VISITS_PER_PANORAMA = 10;
const VISITS_PER_UPLOAD = 4;

const { values } = parseArgs({ options: { rounds: { type: "string", default: "3" } } });
const rounds = Number(values.rounds);
if (!(Number.isInteger(rounds) && rounds >= 1)) throw new Error("--rounds must be an integer, 1 or more");
Nginx.find(); // before the minutes that the rest takes

const database = await PostgresServer.start();
const bucketServer = await S3Server.start({ tls: true });
const bucket = await bucketServer.createBucket({ rejectUnauthorized: false });
const dataDir = mkdtempSync(join(tmpdir(), "panorama-rolling-"));
const environment: Record<string, string> = {
  NODE_ENV: "production",
  DATABASE_URL: database.url,
  PUBLIC_URL: "https://panorama.example",
  DATA_DIR: dataDir, // the local provider keeps its state there
  LOCAL_PROVIDER_DELAY_MS: "300",
  STORAGE: "s3",
  S3_BUCKET: bucket,
  S3_ENDPOINT: bucketServer.endpoint,
  S3_PUBLIC_URL: `${bucketServer.endpoint}/${bucket}`,
  AWS_ACCESS_KEY_ID: bucketServer.credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: bucketServer.credentials.secretAccessKey,
  NODE_EXTRA_CA_CERTS: bucketServer.certificateFile ?? "",
};

const problems: string[] = [];
const statuses = new Map<string, number>();
const latencies: number[] = [];
const created: string[] = [];
let visits = 0;
let probes = 0;
let isLoading = true;
/** Whether all requests are such that nginx may repeat them. */
let isRepeatable = false;
let nginx: Nginx | undefined;
let client: Agent | undefined;

/** One request, which is not repeated. Resolves to the body, or to `undefined` if it failed. */
const send = async (what: string, key: string, path: string, init: RequestInit = {}): Promise<unknown> => {
  const start = performance.now();
  const headers = { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) };
  try {
    const answer = await fetch(`${nginx?.url}/api/v1${path}`, { ...init, headers, dispatcher: client as Agent });
    const body = await answer.text();
    latencies.push(performance.now() - start);
    const name = `${what} ${answer.status}`;
    statuses.set(name, (statuses.get(name) ?? 0) + 1);
    if (answer.ok) return JSON.parse(body);
    problems.push(`${name}: ${body.replaceAll("\n", " ").slice(0, 200)}`);
  } catch (error) {
    statuses.set(`${what} failed`, (statuses.get(`${what} failed`) ?? 0) + 1);
    problems.push(`${what}: no answer: ${error} ${error instanceof Error ? error.cause : ""}`);
  }
  return undefined;
};

const picture = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#308030" } })
  .jpeg()
  .toBuffer();

const upload = async (key: string): Promise<void> => {
  const body = new FormData();
  body.append("files", new Blob([new Uint8Array(picture)], { type: "image/jpeg" }), "picture.jpg");
  await send("upload", key, "/images", { method: "POST", body });
};

/** Creates a panorama. Resolves to the id of its task. */
const create = async (key: string, visit: number): Promise<string | undefined> => {
  const prompt = visit % VISITS_PER_PANORAMA === 0 ? "a foggy ocean" : "a lake test:fail";
  const hasKey = isRepeatable || visit % 2 === 0;
  const headers: Record<string, string> = hasKey ? { "idempotency-key": randomUUID() } : {};
  const body = JSON.stringify({ prompt, resolution: "1k" });
  const what = `creation ${hasKey ? "with" : "without"} Idempotency-Key`;
  const task = (await send(what, key, "/panoramas", { method: "POST", headers, body })) as { id: string } | undefined;
  if (task !== undefined) created.push(task.id);
  return task?.id;
};

/** Whether the task has ended and its image is stored. */
const hasEnded = async (key: string, id: string): Promise<boolean> => {
  const read = await send("poll", key, `/panoramas/${id}`);
  const { status, output } = (read ?? {}) as { status?: string; output?: { storage_status: string } };
  return status === "failed" || output?.storage_status === "saved";
};

/** A customer's program with one key, which begins at a time of its own: a creation or an upload, then polls. */
const load = async (key: string, index: number, keys: number): Promise<void> => {
  await setTimeout((index / keys) * VISIT_MILLISECONDS);
  const open: string[] = [];
  while (isLoading) {
    const next = Date.now() + VISIT_MILLISECONDS;
    visits += 1;
    if (visits % VISITS_PER_UPLOAD === 0) await upload(key);
    else {
      const id = await create(key, visits);
      if (id !== undefined) open.push(id);
    }
    while (isLoading && Date.now() < next) {
      await setTimeout(POLL_MILLISECONDS);
      const id = open.shift();
      if (id !== undefined && !(await hasEnded(key, id))) open.push(id);
    }
  }
};

/**
 * Requests that nginx must not repeat, one after the other, so that one of them meets each moment of a restart. They
 * have no key, so the service answers 401.
 */
const probe = async (): Promise<void> => {
  const init: RequestInit = { method: "POST", body: "{}", dispatcher: client as Agent };
  for (; isLoading; await setTimeout(PROBE_MILLISECONDS)) {
    if (isRepeatable) continue;
    const answer = await fetch(`${nginx?.url}/api/v1/panoramas`, init).catch((error: unknown) => error as Error);
    if (answer instanceof Error) problems.push(`POST without a key: no answer: ${answer.cause}`);
    else if (answer.status !== 401) problems.push(`POST without a key: ${answer.status} instead of 401`);
    else probes += 1;
    if (!(answer instanceof Error)) await answer.arrayBuffer();
  }
};

const isReady = async (instance: Installation): Promise<boolean> =>
  (await globalThis.fetch(`${instance.url}/readyz`).catch(() => undefined))?.status === 200;

/** Restarts the instance, as systemctl does. Resolves when it is ready, to the seconds that it took. */
const restart = async (instance: Installation, signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<number> => {
  const start = performance.now();
  const status = await instance.end(signal);
  if (signal === "SIGTERM" && status !== 0) problems.push(`an instance ended with ${status} after SIGTERM`);
  await instance.start();
  while (!(await isReady(instance))) await setTimeout(100);
  return (performance.now() - start) / 1000;
};

const instances = await Promise.all([1, 2, 3].map(() => Installation.create(environment)));
try {
  const migrated = await instances[0]?.command("migrate");
  if (migrated?.status !== 0) throw new Error(`cannot migrate: ${migrated?.stderr}`);
  const stored = await openPostgresDatabase(database.url, 2);
  const keys = secretsOf(await accountsWithKeys(stored, CUSTOMERS, CREDITS, KEYS_OF_EACH));
  await Promise.all(instances.map((instance) => instance.start()));
  nginx = await Nginx.start(instances.map(({ environment: own }) => `127.0.0.1:${own.PORT}`));
  client = new Agent({ connect: { ca: nginx.certificate } });

  const loading = Promise.all([
    ...keys.map((key, index) => load(key, index, keys.length)),
    ...Array.from({ length: PROBERS }, probe),
  ]);
  await setTimeout(2 * VISIT_MILLISECONDS);
  const seconds: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    for (const instance of instances) {
      seconds.push(await restart(instance));
      await setTimeout(BETWEEN_RESTARTS_MILLISECONDS);
    }
  }
  isRepeatable = true;
  for (const instance of instances) {
    await setTimeout(BETWEEN_RESTARTS_MILLISECONDS);
    await restart(instance, "SIGKILL");
  }
  await setTimeout(VISIT_MILLISECONDS);
  isLoading = false;
  await loading;

  const ended = "state in ('succeeded', 'failed') and storage_status is distinct from 'uploading'";
  const unfinished = () => stored.sql(`select id, state from task where not (${ended})`);
  for (let n = 0; (await unfinished()).length > 0 && n < END_SECONDS; n += 1) await setTimeout(1_000);
  for (const { id, state } of await unfinished()) problems.push(`task ${id} is still ${state}`);
  const tasks = await stored.sql("select id, state, prompt, storage_status from task");
  const known = new Set(tasks.map(({ id }) => id));
  for (const id of created.filter((id) => !known.has(id))) problems.push(`task ${id} is lost`);
  if (tasks.length !== created.length) problems.push(`${created.length} creations made ${tasks.length} tasks`);
  const panoramas = tasks.filter(({ prompt }) => !String(prompt).endsWith("test:fail"));
  const saved = panoramas.filter(({ state, storage_status }) => state === "succeeded" && storage_status === "saved");
  if (saved.length !== panoramas.length) problems.push(`${panoramas.length - saved.length} panoramas failed`);
  await stored.close();
  const verified = await instances[0]?.command("ledger", "verify");
  if (verified?.status !== 0) problems.push(`ledger: ${JSON.stringify(verified?.json)}`);

  const repeated = nginx.requests().filter(({ upstreamStatuses }) => upstreamStatuses.length > 1);
  const order = latencies.sort((a, b) => a - b);
  console.log(
    `${seconds.length} restarts, the longest ${Math.max(...seconds).toFixed(1)} s, and ${instances.length} kills; ${latencies.length} requests answered: ` +
      `${[...statuses].map(([name, times]) => `${times} × ${name}`).join(", ")}, ${probes} × POST without a key 401. p50 ${quantile(order, 0.5).toFixed(0)} ms, ` +
      `p99 ${quantile(order, 0.99).toFixed(0)} ms, longest ${order.at(-1)?.toFixed(0)} ms. ${tasks.length} tasks, ` +
      `${saved.length} of them panoramas. nginx asked a second instance ${repeated.length} times ` +
      `(${repeated.filter(({ method }) => method === "POST").length} POST).`,
  );
  if (problems.length > 0) for (const line of nginx.errors()) console.error(line);
} finally {
  await client?.close();
  await nginx?.remove();
  for (const instance of instances) await instance.remove();
  await bucketServer.stop();
  await database.remove();
  rmSync(dataDir, { recursive: true, force: true });
}
for (const problem of new Set(problems)) {
  console.error(`FAILED, ${problems.filter((other) => other === problem).length} times: ${problem}`);
}
process.exit(problems.length > 0 ? 1 : 0);
