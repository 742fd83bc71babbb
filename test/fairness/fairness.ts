import { join } from "node:path";
import { parseArgs } from "node:util";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { migratePostgresDatabase } from "../../adapters/persistence/schema/migrate-postgres.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { fill } from "../bench/throughput/data.js";
import { PostgresServer } from "../support/postgres.js";
import type { OpenArena } from "./arena.js";
import { compare } from "./compare.js";
import { openDeliveries } from "./deliveries.js";
import { openFloods } from "./floods.js";
import { openPainter, openSlots } from "./generations.js";

/*
 * One hostile client at the limits of a resource, and another customer who does the same: `npm run verify fairness`.
 * Measures the customer's requests alone and during the attack, in turns (compare.ts). Exits with status 1 if the
 * attack slows them by more than two times, or if they are refused. `-- --only sqlite` or `postgres` measures one
 * database, `-- --row forms` the rows that begin so.
 */

const { values: options } = parseArgs({
  options: { only: { type: "string" }, row: { type: "string", default: "" } },
});

const ACCOUNTS = 5_000;

const run = async (name: "sqlite" | "postgres", openArena: OpenArena): Promise<string[]> => {
  const postgres = name === "postgres" ? await PostgresServer.start() : undefined;
  const { service, prepare, contests, close } = await openArena(postgres ? { DATABASE_URL: postgres.url } : {});
  const wanted = contests.filter((contest) => contest.name.startsWith(options.row));
  try {
    if (wanted.length === 0) return [];
    if (postgres) await migratePostgresDatabase(postgres.url);
    const database = postgres
      ? await openPostgresDatabase(postgres.url, 2)
      : await openSqliteDatabase(join(service.dataDir, "panorama.sqlite"));
    await fill(database, ACCOUNTS);
    await prepare?.(database);
    await database.close();
    await service.start();
    const broken: string[] = [];
    for (const contest of wanted) broken.push(...(await compare(service.url, contest)));
    return broken.map((one) => `${name}, ${one}`);
  } finally {
    await service.remove();
    await close();
    await postgres?.remove();
  }
};

const broken: string[] = [];
for (const name of ["sqlite", "postgres"] as const) {
  if (options.only !== undefined && options.only !== name) continue;
  console.log(`${name}:`);
  for (const open of [openFloods, openDeliveries, openSlots, openPainter]) broken.push(...(await run(name, open)));
}
for (const rule of broken) console.error(`broken: ${rule}`);
process.exit(broken.length === 0 ? 0 : 1);
