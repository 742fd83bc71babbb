import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { migratePostgresDatabase } from "../../adapters/persistence/migrate-postgres.js";
import { openSqliteDatabase } from "../../adapters/persistence/open-sqlite-database.js";
import { openPostgresDatabase } from "../../adapters/persistence/postgres-database.js";
import { quantile } from "../bench/statistics.js";
import { accountIdOf, fill, taskIdOf } from "../bench/throughput/data.js";
import { installWithInstantProvider } from "../bench/throughput/processes.js";
import { PostgresServer } from "../support/postgres.js";
import type { Sent } from "./flood-process.js";
import { HOSTILE, ROWS, type Row } from "./rows.js";

/*
 * One hostile client at the limits of a resource, and another customer who does the same: `npm run fairness`. Measures the
 * customer's requests alone and during the attack, for each row (rows.ts). Exits with status 1 if the attack slows them by
 * more than two times, or if they are refused. `-- --only sqlite` or `postgres` measures one database, `-- --row forms` one row.
 */

const { values: options } = parseArgs({ options: { only: { type: "string" }, row: { type: "string" } } });

const ACCOUNTS = 5_000;
const REQUESTS = 60;
const PAUSE_MILLISECONDS = 20;
const ATTACK_MILLISECONDS = 2_000;
const RATIO_MAX = 2;
/** Two processes share the machine with the service: below this, a median is as good as any. */
const MEDIAN_MILLISECONDS_MIN = 10;
const REFUSED_SHARE_MAX = 0.05;

let customer = 10;

type Measured = { readonly median: number; readonly refused: number };

/** Sends the requests one after the other, each of another customer. */
const measure = async (origin: string, victim: Row["victim"]): Promise<Measured> => {
  const times: number[] = [];
  let refused = 0;
  for (let n = 0; n < REQUESTS; n += 1) {
    customer += 1;
    const { method, path, headers, body }: Sent = victim(customer);
    const begun = performance.now();
    const answer = await fetch(origin + path, { method, headers, ...(body && { body }), redirect: "manual" });
    await answer.arrayBuffer();
    times.push(performance.now() - begun);
    if (answer.status === 429 || answer.status >= 500) refused += 1;
    await setTimeout(PAUSE_MILLISECONDS);
  }
  return { median: quantile(times, 0.5), refused: refused / REQUESTS };
};

/** Returns the broken rules. */
const attack = async (origin: string, { name, hostile, victim }: Row): Promise<string[]> => {
  await measure(origin, victim); // warms up
  const alone = await measure(origin, victim);
  const script = new URL("flood-process.ts", import.meta.url).pathname;
  const flood = spawn(process.execPath, ["--import", "tsx", script, origin, JSON.stringify(hostile)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(flood.stdout, "data");
    await setTimeout(ATTACK_MILLISECONDS);
    const attacked = await measure(origin, victim);
    const ratio = attacked.median / Math.max(alone.median, MEDIAN_MILLISECONDS_MIN);
    const figures = `${alone.median.toFixed(1)} ms alone, ${attacked.median.toFixed(1)} ms during the attack`;
    console.log(`  ${name}: ${figures}, ${Math.round(100 * attacked.refused)} % refused`);
    return [
      ...(ratio > RATIO_MAX ? [`${name}: ${figures}`] : []),
      ...(attacked.refused > REFUSED_SHARE_MAX ? [`${name}: ${Math.round(100 * attacked.refused)} % refused`] : []),
    ];
  } finally {
    flood.kill("SIGKILL");
    await setTimeout(ATTACK_MILLISECONDS);
  }
};

type Sql = Parameters<typeof fill>[0];

const fillHostile = async (database: Sql): Promise<void> => {
  await fill(database, ACCOUNTS);
  const { sql } = database;
  const digest = createHash("sha256").update(HOSTILE.sessionToken).digest("hex");
  await sql("insert into session (token_sha256, account_id, created_at, expires_at) values (?, ?, ?, ?)", [
    digest,
    accountIdOf(HOSTILE.account),
    new Date(),
    new Date(Date.now() + 86_400_000),
  ]);
  await sql("update task set visibility = 'public' where id like '%7'");
  await sql("update task set state = 'submitted', due_at = ? where id = ?", [
    new Date(Date.now() + 3_600_000),
    taskIdOf(HOSTILE.activeTask),
  ]);
};

const run = async (name: "sqlite" | "postgres"): Promise<string[]> => {
  const postgres = name === "postgres" ? await PostgresServer.start() : undefined;
  const { service, upstream } = await installWithInstantProvider(postgres ? { DATABASE_URL: postgres.url } : {});
  try {
    if (postgres) await migratePostgresDatabase(postgres.url);
    const database = postgres
      ? await openPostgresDatabase(postgres.url, 2)
      : await openSqliteDatabase(join(service.dataDir, "panorama.sqlite"));
    await fillHostile(database);
    await database.close();
    await service.start();
    console.log(`${name}:`);
    const { port } = new URL(service.url);
    const broken: string[] = [];
    for (const row of ROWS.filter((one) => options.row === undefined || one.name.startsWith(options.row))) {
      broken.push(...(await attack(`http://127.0.0.1:${port}`, row)));
    }
    return broken.map((one) => `${name}, ${one}`);
  } finally {
    await service.remove();
    upstream.stop();
    await postgres?.remove();
  }
};

const broken: string[] = [];
for (const name of ["sqlite", "postgres"] as const) {
  if (options.only === undefined || options.only === name) broken.push(...(await run(name)));
}
for (const rule of broken) console.error(`broken: ${rule}`);
process.exit(broken.length === 0 ? 0 : 1);
