import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Installation } from "../support/service-process.js";
import type { AnyDatabase } from "../support/sql-stores.js";
import { aCustomer } from "./customer.js";
import { ACCOUNTS, creationOf, creditsOf, fill, listOf, readOf } from "./load/data.js";
import { LoadGenerator } from "./load/load.js";
import { startScript } from "./load/processes.js";
import { type List, sendWithWrk } from "./load/wrk.js";
import type { DatabaseKind, Rig, Scenario } from "./rig.js";
import { quantile } from "./statistics.js";
import { type Measured, mainThreadSeconds, newMeasured } from "./throughput/main-thread.js";
import { CREATION, LIST, pgbench, READ } from "./throughput/pgbench.js";
import { type Row, report, save } from "./throughput/ratios.js";

const BASELINE = "test/bench/baseline.json";

type Length = { readonly seconds: number; readonly rounds: number };

const run = promisify(execFile);
const CONNECTIONS = 32;
const LATENCY_CONNECTIONS = [4, 32];
/** Long enough for two panoramas of each customer, from their creation until they are saved. */
const PAINTING_SECONDS = 12;
/** A p99 above this, without painting, shows that requests queue up. */
const OVERLOADED_MILLISECONDS = 100;

/** Measures every subject once a round, in turn. Nothing warms up: a first use of a key is a part of the load. */
const inTurn = async <Name extends string>(
  { seconds, rounds }: Length,
  subjects: Readonly<Record<Name, (seconds: number) => Promise<number>>>,
): Promise<Readonly<Record<Name, number[]>>> => {
  const names = Object.keys(subjects) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) figures[name].push(await subjects[name](seconds));
  }
  return figures;
};

/**
 * Measures answers a second. Adds the 99th percentile of each measurement to `p99s`, and the microseconds of the main
 * thread for each answer to `cpu`.
 */
const throughput =
  ({ origin, pid }: Server, requests: List, { p99s, cpu }: Measured = newMeasured(), connections = CONNECTIONS) =>
  async (seconds: number): Promise<number> => {
    const before = await mainThreadSeconds(pid);
    const sent = await sendWithWrk(seconds, { origin, requests, connections });
    p99s.push(sent.p99);
    cpu.push((((await mainThreadSeconds(pid)) - before) / sent.count) * 1e6);
    return sent.count / sent.seconds;
  };

type Server = { readonly origin: string; readonly pid: number | undefined };
const serverOf = ({ url, pid }: Installation): Server => ({ origin: url, pid });

const portOf = (origin: string): number => Number(new URL(origin).port);

/** What the service answers to each kind of request: the bare server sends the same bytes. */
const recordReplies = async (origin: string, file: string): Promise<void> => {
  const path = "/api/v1/panoramas";
  const routes = [`${path}/:id`, path, "/api/v1/credits", path];
  const replies = await Promise.all(
    [readOf(3), listOf(3), creditsOf(3), creationOf(3)].map(async ({ method, path, headers, body }, index) => {
      const response = await fetch(origin + path, { method, headers, body: body ?? null });
      const text = await response.text();
      if (!response.ok) throw new Error(`the service answers ${response.status}: ${text}`);
      const kept = [...response.headers].filter(
        ([name]) => !["connection", "content-length", "date", "keep-alive"].includes(name),
      );
      return { method: method.toLowerCase(), route: routes[index], status: response.status, headers: kept, body: text };
    }),
  );
  await writeFile(file, JSON.stringify(replies));
};

/**
 * `service` polls nothing, as its neighbours do not. `polling`, for the mix, has 10,000 tasks in progress, each of
 * which is polled twice a minute.
 */
const installed = async (rig: Rig, kind: DatabaseKind) => {
  const { service } = await rig.install(kind, await rig.instantProvider(), fill);
  const polls = await rig.instantProvider({ PROVIDER_POLL_MS: "30000" });
  const running = (database: AnyDatabase) => fill(database, ACCOUNTS, { running: true });
  return { service, polling: (await rig.install(kind, polls, running)).service };
};

/** What the service is compared with: its answers a second, and the times of its main thread if it is a server. */
type Neighbour = { readonly run: (seconds: number) => Promise<number>; readonly cpu?: readonly number[] };

const aServer = (server: Server, requests: List): Neighbour => {
  const measured = newMeasured();
  return { run: throughput(server, requests, measured), cpu: measured.cpu };
};

/** A row for each neighbour. */
const compare = async (
  length: Length,
  work: string,
  service: Installation,
  requests: List,
  neighbours: Readonly<Record<string, Neighbour>>,
): Promise<Row[]> => {
  const { p99s: p99, cpu } = newMeasured();
  const figures = await inTurn<string>(length, {
    ours: throughput(serverOf(service), requests, { p99s: p99, cpu }),
    ...Object.fromEntries(Object.entries(neighbours).map(([name, { run }]) => [name, run])),
  });
  const row = { work, better: "higher", unit: "/s", ours: figures.ours ?? [], p99 } as const;
  return Object.entries(neighbours).map(([against, neighbour]) => ({
    ...row,
    against,
    theirs: figures[against] ?? [],
    cpu: { ours: cpu, theirs: neighbour.cpu ?? [] },
  }));
};

const PEOPLE = "what people would write";
const CEILING = "bare hyper-express, the ceiling";

const measureSqlite = async (rig: Rig, length: Length): Promise<Row[]> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-bench-"));
  rig.defer(() => rm(folder, { recursive: true }));
  const { service, polling } = await installed(rig, "sqlite");
  await service.start();
  const repliesFile = join(folder, "replies.json");
  await recordReplies(service.url, repliesFile);
  const start = async (script: string, ...args: readonly string[]) => {
    const server = await startScript(`throughput/${script}`, ...args);
    rig.defer(() => server.stop());
    return server;
  };
  const fileOf = ({ dataDir }: Installation) => join(dataDir, "panorama.sqlite");
  const file = fileOf(service);
  const byHand = await start("by-hand.ts", file, service.url);
  const asPeople = await start("as-people-write-it.ts", file, service.url);
  const hyperExpress = await start("bare-hyper-express.ts", repliesFile);

  const read = await compare(length, "GET /panoramas/{id}, SQLite", service, "reads", {
    "the same work by hand": aServer(byHand, "reads"),
    [PEOPLE]: aServer(asPeople, "reads"),
    [CEILING]: aServer(hyperExpress, "reads"),
  });
  // The bare driver has a file of its own: its creations must not fill the accounts that the service serves.
  const bareFile = fileOf((await rig.install("sqlite", {}, fill)).service);
  const bareDriver = async (seconds: number) => {
    const script = new URL("throughput/sqlite-commits.ts", import.meta.url).pathname;
    const { stdout } = await run(process.execPath, ["--import", "tsx", script, bareFile, String(seconds)]);
    return Number(stdout);
  };
  const created = await compare(length, "POST /panoramas, SQLite", service, "creations", {
    "bare driver, two commits": { run: bareDriver },
  });
  await service.end("SIGTERM");
  await polling.start();
  const mixed = await compare(length, "mix, SQLite", polling, "mix", { [CEILING]: aServer(hyperExpress, "mix") });
  return [...read, ...mixed, ...created];
};

const measurePostgres = async (rig: Rig, length: Length): Promise<Row[]> => {
  const { service, polling } = await installed(rig, "postgres");
  // Each neighbour has a database of its own: its creations must not fill the accounts that the service serves.
  const databaseUrl = async () => (await rig.install("postgres", {}, fill)).service.environment.DATABASE_URL ?? "";
  const [forPgbench, forPeople] = [await databaseUrl(), await databaseUrl()];
  const { REPLICATE_BASE_URL = "", REPLICATE_API_KEY = "" } = service.environment;
  const script = "throughput/as-people-write-it-on-postgres.ts";
  const asPeople = await startScript(script, forPeople, service.url, REPLICATE_BASE_URL, REPLICATE_API_KEY);
  rig.defer(() => asPeople.stop());
  await service.start();
  const statements = (scripts: Parameters<typeof pgbench>[1]) => ({
    "pgbench, the same statements one by one": { run: (seconds: number) => pgbench(forPgbench, scripts, seconds) },
  });
  const read = await compare(length, "GET /panoramas/{id}, PostgreSQL", service, "reads", {
    ...statements([[READ, 1]]),
    [PEOPLE]: aServer(asPeople, "reads"),
  });
  const created = await compare(length, "POST /panoramas, PostgreSQL", service, "creations", {
    ...statements([[CREATION, 1]]),
    [PEOPLE]: aServer(asPeople, "creations"),
  });
  await service.end("SIGTERM");
  asPeople.stop();
  await polling.start();
  const ofMix = statements([
    [READ, 18],
    [LIST, 1],
    [CREATION, 1],
  ]);
  return [...read, ...created, ...(await compare(length, "mix, PostgreSQL", polling, "mix", ofMix))];
};

/** The embedded provider paints, on SQLite: the work on pictures must not delay requests. */
const measureLatency = async (rig: Rig, length: Length): Promise<Row[]> => {
  const generator = await LoadGenerator.start(rig);
  const { service } = await rig.install("sqlite", {}, fill);
  await service.start();
  const customers = [await aCustomer(service, "painter-1"), await aCustomer(service, "painter-2")];
  /** Each customer always has a 4k panorama in progress. */
  const whilePainting = async (measure: () => Promise<number>) => {
    let isOn = true;
    const painting = customers.map(async (customer) => {
      while (isOn) {
        const { id } = await customer.create({ prompt: "a quiet lake at sunset with mountains", resolution: "4k" });
        await customer.untilKept(id);
      }
    });
    const figure = await measure();
    isOn = false;
    await Promise.all(painting);
    return figure;
  };
  const rows: Row[] = [];
  for (const connections of LATENCY_CONNECTIONS) {
    const saturate = throughput(serverOf(service), "reads", newMeasured(), connections);
    await saturate(length.seconds); // its throughput is that of a service that runs for longer
    const perSecond = (await saturate(length.seconds)) / 2;
    const load = { port: portOf(service.url), requests: "reads", connections, perSecond } as const;
    const p99 = async () => (await generator.during(PAINTING_SECONDS, load)).answers["200"]?.p99 ?? Number.NaN;
    const { painting: ours, idle: theirs } = await inTurn(length, { idle: p99, painting: () => whilePainting(p99) });
    if (quantile(theirs, 0.5) > OVERLOADED_MILLISECONDS) {
      console.error("The machine has too much other load to measure the p99: half the throughput is already too much.");
    }
    const work = `p99 of GET /panoramas/{id} at half the throughput, ${connections} connections, two 4k panoramas in progress`;
    rows.push({ work, against: "without them", better: "lower", unit: "ms", ours, theirs });
  }
  return rows;
};

const PARTS = { sqlite: measureSqlite, postgres: measurePostgres, latency: measureLatency };

/*
 * Throughput of the real server process against what stands beside it in the same run. Every round measures both sides
 * in turn, so that a noisy machine disturbs both; what counts is the ratio. `-- --only sqlite`, `postgres` or `latency`
 * measures a part, `-- --seconds 3 --rounds 3` sets the length, `-- --save baseline` stores the ratios as the baseline.
 */
export const scenario: Scenario<"only" | "seconds" | "rounds" | "save"> = {
  options: { only: "", seconds: "4", rounds: "5", save: "" },
  run: async (rig, { only, seconds, rounds, save: saved }) => {
    const rows: Row[] = [];
    for (const [name, measure] of Object.entries(PARTS)) {
      if (only !== "" && only !== name) continue;
      rows.push(...(await measure(rig, { seconds: Number(seconds), rounds: Number(rounds) })));
      await rig.close();
    }
    const worse = await report(rows, BASELINE);
    if (saved === "baseline") await save(rows, BASELINE);
    else rig.problems.push(...worse);
  },
};
