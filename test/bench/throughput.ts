import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { migratePostgresDatabase } from "../../adapters/persistence/schema/migrate-postgres.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { administer, databaseUrl, PostgresServer } from "../support/postgres.js";
import { Installation } from "../support/service-process.js";
import { aCustomer } from "./customer.js";
import { quantile } from "./statistics.js";
import { ACCOUNTS, creationOf, creations, creditsOf, fill, listOf, mix, readOf, reads } from "./throughput/data.js";
import { hasWrk, type LoadRequest, p99, saturate } from "./throughput/load.js";
import { whilePainting } from "./throughput/painting.js";
import { CREATION, LIST, pgbench, READ } from "./throughput/pgbench.js";
import { installWithInstantProvider, startScript } from "./throughput/processes.js";
import { type Row, report, save } from "./throughput/ratios.js";
import { creationsPerSecond } from "./throughput/sqlite-baseline.js";

/*
 * Throughput of the real server process against what stands beside it in the same run: `npm run bench throughput`.
 * Every round measures both sides in turn, so that a noisy machine disturbs both; what counts is the ratio. `-- --only
 * sqlite`, `postgres` or `latency` measures a part, `-- --seconds 3 --rounds 3` sets the length, `-- --save` stores the
 * result as the baseline.
 */

const BASELINE = "test/bench/baseline.json";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    seconds: { type: "string", default: "4" },
    rounds: { type: "string", default: "5" },
    json: { type: "string" },
    save: { type: "boolean", default: false },
  },
});
const seconds = Number(options.seconds);
const rounds = Number(options.rounds);
/** Long enough for two panoramas of each customer, from their creation until they are saved. */
const PAINTING_SECONDS = 12;
/** A p99 above this, without painting, shows that requests queue up. */
const OVERLOADED_MILLISECONDS = 100;

/** Measures every subject once a round, in turn. Nothing warms up: a first use of a key is a part of the load. */
const inTurn = async <Name extends string>(
  subjects: Readonly<Record<Name, (seconds: number) => Promise<number>>>,
): Promise<Readonly<Record<Name, number[]>>> => {
  const names = Object.keys(subjects) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) figures[name].push(await subjects[name](seconds));
  }
  return figures;
};

/** Measures requests a second, and adds the 99th percentile of each measurement to `p99s`. */
const throughput =
  (origin: string, requests: readonly LoadRequest[], p99s: number[] = []) =>
  async (seconds: number): Promise<number> => {
    const { perSecond, p99Milliseconds } = await saturate(origin, requests, seconds);
    p99s.push(p99Milliseconds);
    return perSecond;
  };

/** What the service answers to each kind of request: the bare servers send the same bytes. */
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

const fillSqlite = async ({ dataDir }: Installation, running: boolean): Promise<void> => {
  const database = await openSqliteDatabase(join(dataDir, "panorama.sqlite"));
  await fill(database, ACCOUNTS, { running });
  await database.close();
};

/** 10,000 tasks in progress, each of which is polled twice a minute. */
const POLLING = { PROVIDER_POLL_MS: "30000" };

const measureSqlite = async (): Promise<Row[]> => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-bench-"));
  const { service, upstream } = await installWithInstantProvider(POLLING);
  const stops: (() => unknown)[] = [
    () => upstream.stop(),
    () => service.remove(),
    () => rm(folder, { recursive: true }),
  ];
  try {
    await fillSqlite(service, true);
    await service.start();
    const repliesFile = join(folder, "replies.json");
    await recordReplies(service.url, repliesFile);
    const hyperExpress = await startScript("bare-server.ts", "hyper-express", repliesFile);
    stops.push(() => hyperExpress.stop());
    const fastify = await startScript("bare-server.ts", "fastify", repliesFile);
    stops.push(() => fastify.stop());

    const against = async (work: string, requests: readonly LoadRequest[]): Promise<Row[]> => {
      const p99: number[] = [];
      const figures = await inTurn({
        service: throughput(service.url, requests, p99),
        hyperExpress: throughput(hyperExpress.origin, requests),
        fastify: throughput(fastify.origin, requests),
      });
      const row = { work, better: "higher", unit: "/s", ours: figures.service, p99 } as const;
      return [
        { ...row, against: "bare hyper-express", theirs: figures.hyperExpress },
        { ...row, against: "bare Fastify", theirs: figures.fastify },
      ];
    };
    const read = await against("GET /panoramas/{id}, SQLite", reads);
    const mixed = await against("mix, SQLite", mix);
    const p99: number[] = [];
    const create = await inTurn({
      service: throughput(service.url, creations, p99),
      driver: (seconds) => creationsPerSecond(folder, seconds),
    });
    return [
      ...read,
      ...mixed,
      {
        work: "POST /panoramas, SQLite",
        against: "bare driver, two commits",
        better: "higher",
        unit: "/s",
        ours: create.service,
        theirs: create.driver,
        p99,
      },
    ];
  } finally {
    for (const stop of stops) await stop();
  }
};

const measurePostgres = async (): Promise<Row[]> => {
  const server = await PostgresServer.start({ durable: true });
  // pgbench has a database of its own: its creations must not fill the accounts that the service serves.
  const [serviceUrl = "", pgbenchUrl = ""] = await Promise.all(
    ["service", "pgbench"].map(async (name) => {
      await administer(server.url, `create database ${name}`);
      const url = databaseUrl(server.url, name);
      await migratePostgresDatabase(url);
      const database = await openPostgresDatabase(url, 2);
      await fill(database, ACCOUNTS, { running: true });
      await database.sql("analyze");
      await database.close();
      return url;
    }),
  );
  const { service, upstream } = await installWithInstantProvider({ DATABASE_URL: serviceUrl, ...POLLING });
  try {
    await service.start();
    const against = async (
      work: string,
      requests: readonly LoadRequest[],
      scripts: Parameters<typeof pgbench>[1],
    ): Promise<Row> => {
      const p99: number[] = [];
      const { ours, theirs } = await inTurn({
        ours: throughput(service.url, requests, p99),
        theirs: (seconds) => pgbench(pgbenchUrl, scripts, seconds),
      });
      return {
        work,
        against: "pgbench, the same statements one by one",
        better: "higher",
        unit: "/s",
        ours,
        theirs,
        p99,
      };
    };
    const ofMix = [
      [READ, 18],
      [LIST, 1],
      [CREATION, 1],
    ] as const;
    return [
      await against("GET /panoramas/{id}, PostgreSQL", reads, [[READ, 1]]),
      await against("mix, PostgreSQL", mix, ofMix),
      await against("POST /panoramas, PostgreSQL", creations, [[CREATION, 1]]),
    ];
  } finally {
    upstream.stop();
    await service.remove();
    await server.remove();
  }
};

/** The embedded provider paints, on SQLite: the work on pictures must not delay requests. */
const measureLatency = async (): Promise<Row[]> => {
  const service = await Installation.create({ DEMO: "false" });
  try {
    await fillSqlite(service, false);
    await service.start();
    const customers = [await aCustomer(service, "painter-1"), await aCustomer(service, "painter-2")];
    await saturate(service.url, reads, seconds); // its throughput is that of a service that runs for longer
    const perSecond = (await saturate(service.url, reads, seconds)).perSecond / 2;
    const rows: Row[] = [];
    // Few connections show a delay of one answer, many show how long the queue behind it gets.
    for (const connections of [4, 32]) {
      const measured = () => p99(service.url, reads, PAINTING_SECONDS, { perSecond, connections });
      const { painting, idle } = await inTurn({ idle: measured, painting: () => whilePainting(customers, measured) });
      if (quantile(idle, 0.5) > OVERLOADED_MILLISECONDS) {
        console.error(
          "The machine has too much other load to measure the p99: half the throughput is already too much.",
        );
      }
      rows.push({
        work: `p99 of GET /panoramas/{id} at half the throughput, ${connections} connections, two 4k panoramas in progress`,
        against: "without them",
        better: "lower",
        unit: "ms",
        ours: painting,
        theirs: idle,
      });
    }
    return rows;
  } finally {
    await service.remove();
  }
};

const parts: Readonly<Record<string, () => Promise<Row[]>>> = {
  sqlite: measureSqlite,
  postgres: measurePostgres,
  latency: measureLatency,
};

const measured = Object.entries(parts).filter(([name]) => options.only === undefined || options.only === name);
if (measured.some(([name]) => name === "latency") && !(await hasWrk)) {
  console.error(
    "The response times need wrk. Install it, or measure another part: npm run bench throughput -- --only sqlite",
  );
  process.exit(1);
}
const rows: Row[] = [];
for (const [, measure] of measured) rows.push(...(await measure()));
const worse = await report(rows, BASELINE);
if (options.json !== undefined) await save(rows, options.json);
if (options.save) await save(rows, BASELINE);
for (const line of worse) console.error(`COSTS MORE THAN BEFORE: ${line}`);
process.exit(worse.length > 0 && !options.save ? 1 : 0);
