import { existsSync } from "node:fs";
import type { PostgresInspection } from "../../adapters/persistence/database/inspect-postgres.js";
import type { QueueInspection } from "../../adapters/persistence/database/inspect-queue.js";
import { type MigrationState, migrationProblem } from "../../adapters/persistence/database/schema/migration-state.js";
import { DatabaseError, missingFile } from "../../adapters/persistence/database/sql/database-error.js";
import type { Clock } from "../../application/ports/clock.js";
import { type Config, sqlitePath } from "../config.js";
import { broken, type Finding, fine, notChecked, warning } from "./finding.js";

const POSTGRES_MAJOR_MIN = 15;
/** A creation waits for two statements, a poll for one. */
const LATENCY_MILLISECONDS_MAX = 50;
/** A machine with a time service is never so far off. */
const CLOCK_MILLISECONDS_DOUBTFUL = 500;
const CLOCK_MILLISECONDS_MAX = 3_000;
/** After so long, the alert rules tell, too. */
const WAIT_MILLISECONDS_LONG = 5 * 60 * 1000;
/** PostgreSQL connections reserved for commands and other instances. */
const CONNECTIONS_LEFT_MIN = 5;

type Settings = Pick<Config, "databaseUrl" | "databaseConnections" | "dataDir">;

/** The database, its migrations, and its clock. Nothing is made or changed. */
export const checkDatabase = async (config: Settings, clock: Clock): Promise<readonly Finding[]> => {
  try {
    return await (config.databaseUrl === undefined
      ? checkSqlite(sqlitePath(config.dataDir), clock)
      : checkPostgres(config.databaseUrl, config, clock));
  } catch (error) {
    const kind = error instanceof DatabaseError ? error.kind : "failed";
    return [broken("database", kind, error instanceof Error ? error.message : String(error)), ...AFTER_DATABASE];
  }
};

const AFTER_DATABASE = ["migrations", "clock", "queue"].map((name) =>
  notChecked(name, "The database must be usable first."),
);

const checkSqlite = async (file: string, clock: Clock): Promise<readonly Finding[]> => {
  // The first start makes it; after that, the name is mistyped.
  if (!existsSync(file)) return [warning("database", missingFile(file).message), ...AFTER_DATABASE];
  const { inspectSqlite } = await import("../../adapters/persistence/database/inspect-sqlite.js");
  const { version, migrations, queue } = await inspectSqlite(file);
  return [
    fine("database", `SQLite ${version} reads ${file}.`),
    checkMigrations(`The database ${file}`, migrations, "panorama serve does it at its start."),
    notChecked("clock", "SQLite has no clock of its own."),
    checkQueue(queue, clock),
  ];
};

const checkPostgres = async (url: string, config: Settings, clock: Clock): Promise<readonly Finding[]> => {
  const { inspectPostgres } = await import("../../adapters/persistence/database/inspect-postgres.js");
  const inspection = await inspectPostgres(url, clock);
  return [
    checkServer(inspection, config.databaseConnections),
    checkMigrations("The database", inspection.migrations),
    checkClock(inspection.aheadMilliseconds),
    checkQueue(inspection.queue, clock),
  ];
};

const checkServer = (inspection: PostgresInspection, connections: number): Finding => {
  const { version, majorVersion, connectionsMax, latencyMilliseconds } = inspection;
  const answers = `PostgreSQL ${version} answers in ${latencyMilliseconds.toFixed(1)} ms`;
  if (majorVersion < POSTGRES_MAJOR_MIN) {
    return broken("database", "failed", `${answers}. Update it: ${POSTGRES_MAJOR_MIN} or later is needed.`);
  }
  if (connections > connectionsMax - CONNECTIONS_LEFT_MIN) {
    const problem = `allows ${connectionsMax} connections in all, and DATABASE_CONNECTIONS is ${connections}`;
    return warning("database", `${answers}, but ${problem}. Set a smaller number, or a larger max_connections.`);
  }
  return latencyMilliseconds > LATENCY_MILLISECONDS_MAX
    ? warning("database", `${answers}, which makes each request slow. Run the service closer to it.`)
    : fine("database", `${answers}.`);
};

/** `byItself`: why pending ones prevent no start. */
const checkMigrations = (database: string, state: MigrationState, byItself?: string): Finding => {
  const name = "migrations";
  if (state.kind === "current") return fine(name, `${database} is up to date.`);
  return state.kind === "pending" && byItself !== undefined
    ? warning(name, `${database} is not up to date: ${byItself}`)
    : broken(name, "configuration", migrationProblem(database, state));
};

const checkClock = (aheadMilliseconds: number): Finding => {
  const name = "clock";
  const seconds = (Math.abs(aheadMilliseconds) / 1000).toFixed(1);
  const differs = `The clock of the database is ${seconds} s ${aheadMilliseconds > 0 ? "ahead of" : "behind"} this machine's`;
  const advice = "Synchronize both (NTP): TLS, signatures for the storage and the log use this machine's.";
  if (Math.abs(aheadMilliseconds) > CLOCK_MILLISECONDS_MAX) return broken(name, "failed", `${differs}. ${advice}`);
  return Math.abs(aheadMilliseconds) > CLOCK_MILLISECONDS_DOUBTFUL
    ? warning(name, `${differs}. ${advice}`)
    : fine(name, "The clocks of the database and of this machine agree.");
};

/** `undefined` before the migrations have run. */
const checkQueue = (queue: QueueInspection | undefined, clock: Clock): Finding => {
  const name = "queue";
  if (queue === undefined) return notChecked(name, "The migrations must run first.");
  const { waiting, oldest } = queue;
  if (oldest === undefined) return fine(name, "No task waits for a provider.");
  const waits = `${waiting} ${waiting === 1 ? "task waits" : "tasks wait"} for a provider, the oldest since ${oldest.toISOString()}`;
  return clock.now().getTime() - oldest.getTime() > WAIT_MILLISECONDS_LONG
    ? warning(name, `${waits}. Raise PROVIDER_MAX_CONCURRENT if the provider's plan allows more, or add a provider.`)
    : fine(name, `${waits}.`);
};
