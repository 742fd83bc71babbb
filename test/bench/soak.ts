import { randomUUID } from "node:crypto";
import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { RESOLUTIONS } from "../../domain/images/resolution.js";
import { accountsWithKeys, secretsOf } from "../support/accounts-with-keys.js";
import type { UpstreamTask } from "../support/fake-provider.js";
import { FakeSkybox, SKYBOX_KEY } from "../support/fake-skybox.js";
import { FAULTS, refuses } from "../support/faulty-server.js";
import { untilDelivered } from "../support/fleet.js";
import { seamless } from "../support/test-images.js";
import { readProcessMetrics } from "./process-metrics.js";
import { databasesOf, type Scenario } from "./rig.js";
import { quantile } from "./statistics.js";

const ACCOUNTS = 150;
const KEYS_OF_EACH = 5;
const CREDITS = 1_000_000;
/** Of a key, in a minute; the service allows 10. */
const WRITES_OF_KEY = 8;
const READS_PER_CREATION = 3;
const CAPACITY_MILLISECONDS = 10_000;
const CAPACITY_CLIENTS = 16;
const GENERATION_MILLISECONDS = 1_000;
const LOOK_MILLISECONDS = 20;
/** Every tenth generation succeeds, so that image processing does not dominate; the others are refunded. */
const TASKS_PER_SUCCESS = 10;
const FAULT_SECONDS = { min: 3, max: 10 };
const SETTLING_SECONDS = 30;
const SAMPLES = 5;
/** Longer than the service and the clients keep idle connections open, and than a retry of a stored image takes. */
const CONNECTIONS_CLOSED_MILLISECONDS = 20_000;
const MEBIBYTE = 1024 * 1024;

type Fault = () => unknown;

/** Makes one of the faults happen again and again, at random times. Counts them in `happened`. */
const happen = async (faults: Readonly<Record<string, Fault>>, until: number, happened: Map<string, number>) => {
  const names = Object.keys(faults);
  for (;;) {
    const pause = (FAULT_SECONDS.min + Math.random() * (FAULT_SECONDS.max - FAULT_SECONDS.min)) * 1_000;
    if (performance.now() + pause > until) return;
    await setTimeout(pause);
    const name = names[Math.floor(Math.random() * names.length)] as string;
    happened.set(name, (happened.get(name) ?? 0) + 1);
    await faults[name]?.();
  }
};

/** Ends each generation of the fake a while after its start. Returns what stops it. */
const endGenerations = (fake: FakeSkybox): (() => void) => {
  const ended = new Set<UpstreamTask>();
  const end = () => {
    for (const task of fake.tasks) {
      const age = Date.now() - (task.createdAt?.getTime() ?? Date.now());
      if (ended.has(task) || age < GENERATION_MILLISECONDS) continue;
      ended.add(task);
      task.state = ended.size % TASKS_PER_SUCCESS === 0 ? "succeed" : "fail";
    }
  };
  const timer = setInterval(end, LOOK_MILLISECONDS);
  return () => clearInterval(timer);
};

const several = <T>(fault: T): T[] => Array.from({ length: 1 + Math.floor(Math.random() * 5) }, () => fault);

/*
 * The built service for minutes, at half of the throughput that is measured first, while faults happen at random: in
 * the first third of the time the service is restarted (SIGTERM, SIGKILL), in all of it the provider, the storage and
 * PostgreSQL fail. Fails if the ledger is not clean, a task is lost, does not end or is started twice, or if memory,
 * descriptors or temporary files have grown from half a minute after the last restart to the end, both times without
 * load. `-- --minutes 10 --database sqlite`.
 */
export const scenario: Scenario<"database" | "minutes"> = {
  options: { database: "postgres", minutes: "10" },
  run: async (rig, { database: named, minutes }) => {
    const [kind = "postgres"] = databasesOf(named);
    const seconds = Number(minutes) * 60;
    const provider = await FakeSkybox.start();
    rig.defer(() => provider.close());
    provider.plan = "run";
    provider.picture = await seamless(RESOLUTIONS["1k"]).jpeg().toBuffer();
    rig.defer(endGenerations(provider));
    const environment = {
      PROVIDER: "skybox",
      SKYBOX_API_KEY: SKYBOX_KEY,
      SKYBOX_BASE_URL: provider.baseUrl,
      PROVIDER_CALLS_PER_SECOND: "500",
      PROVIDER_MAX_CONCURRENT: "1000",
      PROVIDER_POLL_MS: "1000",
      SUBMIT_TIMEOUT_MS: "5000",
      LEASE_MS: "6000",
    };
    let keys: readonly string[] = [];
    const { service, openDatabase } = await rig.install(kind, environment, async (database) => {
      keys = secretsOf(await accountsWithKeys(database, ACCOUNTS, CREDITS, KEYS_OF_EACH));
    });
    await service.start();
    const restart = async (signal: "SIGTERM" | "SIGKILL"): Promise<void> => {
      const status = await service.end(signal);
      rig.expect(signal === "SIGKILL" || status === 0, `the service ended with ${status} after SIGTERM`);
      await service.start();
    };
    const restarts: Readonly<Record<string, Fault>> = {
      "restart by SIGTERM": () => restart("SIGTERM"),
      "restart by SIGKILL": () => restart("SIGKILL"),
    };
    const objects = join(service.dataDir, "objects");
    const failures: Readonly<Record<string, Fault>> = {
      "provider refuses": () => provider.faults.creates.push(...several(refuses(400))),
      "provider is busy": () => provider.faults.creates.push(...several(refuses(429, { "retry-after": "1" }))),
      "provider cuts before": () => provider.faults.creates.push(...several(FAULTS.cutBefore)),
      "provider cuts after": () => provider.faults.creates.push(...several(FAULTS.cutAfter)),
      "polls fail": () => provider.faults.polls.push(...several(FAULTS.failsBefore)),
      "downloads fail": () => provider.faults.images.push(...several(FAULTS.cutAfter)),
      "storage is away": async () => {
        renameSync(objects, `${objects}-away`);
        await setTimeout(1_500);
        renameSync(`${objects}-away`, objects);
      },
      ...(kind === "postgres" && {
        "restart of PostgreSQL": async () => {
          const server = await rig.postgresServer();
          await server.stop();
          await setTimeout(1_000);
          await server.restart();
        },
      }),
    };

    const latencies: number[] = [];
    const created = new Set<string>();
    let [isRunning, isPaused] = [true, false];
    const send = async (key: string, path: string, init: RequestInit = {}): Promise<{ id?: string }> => {
      const start = performance.now();
      const headers = { authorization: `Bearer ${key}` };
      const signal = AbortSignal.timeout(30_000);
      const answer = await fetch(`${service.url}/api/v1${path}`, { ...init, headers, signal }).catch(() => undefined);
      if (answer !== undefined) latencies.push(performance.now() - start);
      return ((await answer?.json().catch(() => undefined)) ?? {}) as { id?: string };
    };
    /** One creation and some reads, as a customer makes them. */
    const visit = async (n: number): Promise<boolean> => {
      const key = keys[n % keys.length] as string;
      const body = JSON.stringify({ prompt: `a lake ${randomUUID()}`, resolution: "1k" });
      const { id } = await send(key, "/panoramas", { method: "POST", body });
      if (id === undefined) return false;
      created.add(id);
      for (let read = 0; read < READS_PER_CREATION; read += 1) await send(key, `/panoramas/${id}`);
      return true;
    };
    let [visits, next] = [0, 0];
    const end = performance.now() + CAPACITY_MILLISECONDS;
    const client = async () => {
      while (performance.now() < end) if (await visit(next++)) visits += 1;
    };
    await Promise.all(Array.from({ length: CAPACITY_CLIENTS }, client));
    const perSecond = Math.min((visits * 1_000) / CAPACITY_MILLISECONDS / 2, (keys.length * WRITES_OF_KEY) / 60);
    latencies.length = 0;

    /** Starts visits evenly, whether the earlier ones have ended or not. */
    const load = async (): Promise<void> => {
      const open = new Set<Promise<unknown>>();
      const begun = performance.now();
      for (let n = 0; isRunning; n += 1) {
        if (!isPaused) {
          const visited = visit(n).finally(() => open.delete(visited));
          open.add(visited);
        }
        await setTimeout(Math.max(0, begun + ((n + 1) * 1_000) / perSecond - performance.now()));
      }
      await Promise.all(open);
    };
    /** Clients open more connections while a fault makes them wait; without load, only the service's own are left. */
    const sampleWithoutLoad = async () => {
      isPaused = true;
      await setTimeout(CONNECTIONS_CLOSED_MILLISECONDS);
      const memory: number[] = [];
      while (memory.length < SAMPLES) {
        await setTimeout(1_000);
        const metrics = await readProcessMetrics(service.url).catch(() => undefined);
        if (metrics !== undefined) memory.push(metrics.residentBytes / MEBIBYTE);
      }
      isPaused = false;
      const files = readdirSync(service.dataDir, { recursive: true, withFileTypes: true }).filter(
        ({ name, parentPath }) => name.endsWith(".temporary") || parentPath.endsWith("uploads"),
      );
      const descriptors = readdirSync(`/proc/${service.pid}/fd`).length;
      return { mebibytes: quantile(memory, 0.5), descriptors, temporaryFiles: files.length };
    };

    const start = performance.now();
    const happened = new Map<string, number>();
    const loading = load();
    await happen({ ...restarts, ...failures }, start + (seconds / 3) * 1_000, happened);
    await restart("SIGTERM");
    await setTimeout(Math.min(SETTLING_SECONDS, seconds / 6) * 1_000);
    const settled = await sampleWithoutLoad();
    await happen(failures, start + seconds * 1_000, happened);
    const last = await sampleWithoutLoad();
    isRunning = false;
    await loading;

    const database = await openDatabase();
    const rows = (condition: string) => database.sql(`select id from task where ${condition}`);
    await untilDelivered(database.sql).catch(({ message }) => rig.problems.push(message));
    const known = new Set((await rows("true")).map(({ id }) => id));
    for (const id of created) rig.expect(known.has(id), `task ${id} is lost`);
    const saved = await rows("storage_status like 'saved%'");
    await database.close();
    const prompts = provider.tasks.map(({ input }) => String(input.prompt));
    const twice = prompts.length - new Set(prompts).size;
    rig.expect(twice === 0, `${twice} tasks were started twice`);
    const { status, json } = await service.command("ledger", "verify");
    rig.expect(status === 0, `ledger: ${JSON.stringify(json)}`);
    rig.expect((await service.end("SIGTERM")) === 0, "the service did not end with status 0");
    console.log(`faults: ${JSON.stringify(Object.fromEntries(happened))}`);
    rig.figure("creations a second, with their reads", "", perSecond);
    rig.figure("tasks; pictures that are kept", "", [known.size, saved.length]);
    rig.figure("answers, outages included", "ms", latencies);
    rig.figure("memory at the end", "MiB", last.mebibytes, { max: settled.mebibytes * 1.25 + 24 });
    rig.figure("descriptors at the end", "", last.descriptors, { max: settled.descriptors + 10 });
    rig.figure("temporary files at the end", "", last.temporaryFiles, { max: settled.temporaryFiles + 5 });
  },
};
