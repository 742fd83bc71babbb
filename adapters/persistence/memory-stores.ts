import { DatabaseSync } from "@photostructure/sqlite";
import type { Clock } from "../../application/ports/clock.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { HandClock } from "../memory/hand-clock.js";
import { migrationTexts } from "./database/schema/migrate.js";
import type { SqliteDatabase } from "./database/sqlite/sqlite-database.js";
import { databaseOnConnection } from "./database/sqlite/sqlite-on-connection.js";
import { entityStores } from "./entity-stores.js";
import { sqlStores } from "./sql-stores.js";

const TABLES = ["panoramas"] as const;

let script: string | undefined;

function migrationScript(): string {
  const texts = migrationTexts({ dialect: "sqlite", tables: TABLES });
  return ["begin", ...texts.flatMap(({ statements }) => statements), "commit"].join(";\n");
}

/** An empty SQLite database in memory. It is gone when nothing refers to it. */
export function memoryDatabase(): SqliteDatabase {
  const sqlite = new DatabaseSync(":memory:");
  script ??= migrationScript();
  sqlite.exec(script);
  return databaseOnConnection({ sqlite, tables: TABLES });
}

/**
 * Every store that the use cases have, on an empty SQLite database in memory, for tests and examples. `clock`: the one
 * that the use cases have; a `HandClock` waits for the stores. `rates`: those of the policy of the application.
 */
export function memoryStores(clock: Clock, rates: PanoramaPolicy["rates"], database = memoryDatabase()) {
  const stores = sqlStores(database, { clock, entities: entityStores(database) });
  if (clock instanceof HandClock) clock.waitFor(() => database.load.idleConnections === database.load.connections);
  return { ...stores, ...stores.countersAt(clock, rates) };
}
