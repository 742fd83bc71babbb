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

  const against = async (
    work: string,
    measuredService: Installation,
    requests: List,
    servers: Readonly<Record<string, Server>>,
  ): Promise<Row[]> => {
    const measured = newMeasured();
    const theirs = Object.entries(servers).map(([name, server]) => ({ name, server, measured: newMeasured() }));
    const figures = await inTurn(length, {
      service: throughput(serverOf(measuredService), requests, measured),
      ...Object.fromEntries(theirs.map(({ name, server, measured }) => [name, throughput(server, requests, measured)])),
    });
    return theirs.map(({ name, measured: { cpu } }) => ({
      work,
      against: name,
      better: "higher",
      unit: "/s",
      ours: figures.service,
      theirs: figures[name as keyof typeof figures],
      p99: measured.p99s,
      cpu: { ours: measured.cpu, theirs: cpu },
    }));
  };
  const read = await against("GET /panoramas/{id}, SQLite", service, "reads", {
    "the same work by hand": byHand,
    "what people would write": asPeople,
    "bare hyper-express, the ceiling": hyperExpress,
  });
  const measured = newMeasured();
  // The bare driver has a file of its own: its creations must not fill the accounts that the service serves.
  const bareFile = fileOf((await rig.install("sqlite", {}, fill)).service);
  const { ours, theirs } = await inTurn(length, {
    ours: throughput(serverOf(service), "creations", measured),
    theirs: async (seconds) => {
      const script = new URL("throughput/sqlite-commits.ts", import.meta.url).pathname;
      const { stdout } = await run(process.execPath, ["--import", "tsx", script, bareFile, String(seconds)]);
      return Number(stdout);
    },
  });
  await service.end("SIGTERM");
  await polling.start();
  const mixed = await against("mix, SQLite", polling, "mix", { "bare hyper-express, the ceiling": hyperExpress });
  const create = { work: "POST /panoramas, SQLite", against: "bare driver, two commits", better: "higher" } as const;
  return [
    ...read,
    ...mixed,
    { ...create, unit: "/s", ours, theirs, p99: measured.p99s, cpu: { ours: measured.cpu, theirs: [] } },
  ];
};

const measurePostgres = async (rig: Rig, length: Length): Promise<Row[]> => {
  const { service, polling } = await installed(rig, "postgres");
  // pgbench has a database of its own: its creations must not fill the accounts that the service serves.
  const url = (await rig.install("postgres", {}, fill)).service.environment.DATABASE_URL ?? "";
  await service.start();
  const against = async (
    work: string,
    measuredService: Installation,
    requests: List,
    scripts: Parameters<typeof pgbench>[1],
  ): Promise<Row> => {
    const { p99s, cpu } = newMeasured();
    const figures = await inTurn(length, {
      ours: throughput(serverOf(measuredService), requests, { p99s, cpu }),
      theirs: (seconds) => pgbench(url, scripts, seconds),
    });
    const row = { work, against: "pgbench, the same statements one by one", better: "higher", unit: "/s" } as const;
    return { ...row, ...figures, p99: p99s, cpu: { ours: cpu, theirs: [] } };
  };
  const ofMix = [
    [READ, 18],
    [LIST, 1],
    [CREATION, 1],
  ] as const;
  const read = await against("GET /panoramas/{id}, PostgreSQL", service, "reads", [[READ, 1]]);
  const created = await against("POST /panoramas, PostgreSQL", service, "creations", [[CREATION, 1]]);
  await service.end("SIGTERM");
  await polling.start();
  return [read, created, await against("mix, PostgreSQL", polling, "mix", ofMix)];
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
