import { MikroORM } from "@mikro-orm/core";
import { DatabaseSync } from "@photostructure/sqlite";
import pg from "pg";
import { expect, inject, it } from "vitest";
import {
  PostgresEntityDriver,
  SqliteEntityDriver,
} from "../../../../../adapters/persistence/database/orm/connections.js";
import { ENTITY_TABLES } from "../../../../../adapters/persistence/database/orm/entity-tables.js";
import * as conditions from "../../../../../adapters/persistence/database/schema/indexed-conditions.js";
import { migrationSteps } from "../../../../../adapters/persistence/database/schema/migration-steps.js";
import type { Dialect } from "../../../../../adapters/persistence/database/sql/database.js";
import { administer, databaseUrl } from "../../../../support/postgres.js";
import { structureOf } from "../../../../support/structure-of.js";

const DRIVERS = { sqlite: SqliteEntityDriver, postgresql: PostgresEntityDriver };

/** What the schema generator makes of entity-tables.ts. */
const generated = async (dialect: Dialect): Promise<readonly string[]> => {
  const orm = await MikroORM.init({
    driver: DRIVERS[dialect] as never,
    entities: ENTITY_TABLES,
    dbName: "unused",
    connect: false,
    discovery: { disableDynamicFileAccess: true },
  });
  const sql = await orm.getSchemaGenerator().getCreateSchemaSQL({ wrap: false });
  return sql.split(/;\n+/).filter((statement) => statement.trim() !== "");
};

const migrated = (dialect: Dialect): readonly string[] => migrationSteps.flatMap(({ up }) => up[dialect]);

const NAMES = ENTITY_TABLES.map(({ meta }) => meta.tableName);

/** A line of `structureOf` about one of them. */
const ENTITY_TABLE = new RegExp(`^((${NAMES.join("|")})[. ]|create (unique )?index .* on (${NAMES.join("|")}) )`, "i");

/** Spelling does not matter: quotation marks, white space, and `on table(id)` without a space. */
const normal = (sql: unknown): string =>
  String(sql)
    .replace(/["`]/g, "")
    .replace(/\s*([(),])\s*/g, "$1")
    .replace(/\s+/g, " ");

/** Columns, keys, checks and indexes of the tables of entity-tables.ts. */
const sqliteStructure = (statements: readonly string[]): unknown => {
  const database = new DatabaseSync(":memory:");
  for (const statement of statements) database.exec(statement);
  const rows = (sql: string, ...values: string[]) => database.prepare(sql).all(...values) as Record<string, unknown>[];
  const structure = NAMES.map((name) => {
    const [table] = rows("select sql from sqlite_master where type = 'table' and name = ?", name);
    const text = normal(table?.sql);
    return {
      name,
      columns: rows('select name, type, "notnull", dflt_value, pk from pragma_table_info(?)', name),
      foreign: rows(
        'select "from", "table", "to", on_update, on_delete from pragma_foreign_key_list(?) order by 1',
        name,
      ),
      checks: [...text.matchAll(/\w+ check\(.*?\)/g)].map(([check]) => check),
      isCounted: /autoincrement/i.test(text),
      indexes: rows("select sql from sqlite_master where type = 'index' and tbl_name = ? and sql is not null", name)
        .map(({ sql }) => normal(sql))
        .sort(),
    };
  });
  database.close();
  return structure;
};

it("the indexes have the conditions with which the queries name their rows", () => {
  for (const dialect of ["sqlite", "postgresql"] as const) {
    const indexes = migrated(dialect).filter((statement) => /^create (unique )?index/.test(statement));
    const missing = Object.entries(conditions).filter(
      ([, text]) => !indexes.some((index) => normal(index).includes(normal(text))),
    );
    expect(missing).toEqual([]);
  }
});

it("the migrations make the tables of entity-tables.ts on SQLite", async () => {
  expect(sqliteStructure(migrated("sqlite"))).toEqual(sqliteStructure(await generated("sqlite")));
});

it("the migrations make the tables of entity-tables.ts on PostgreSQL", async () => {
  await administer(inject("postgresUrl"), "create database structures");
  const pool = new pg.Pool({ connectionString: databaseUrl(inject("postgresUrl"), "structures"), max: 1 });
  const structures = [];
  for (const statements of [migrated("postgresql"), await generated("postgresql")]) {
    await pool.query("create schema one; set search_path = one");
    for (const statement of statements) await pool.query(statement);
    structures.push((await structureOf(pool, "one")).filter((line) => ENTITY_TABLE.test(line)));
    await pool.query("drop schema one cascade");
  }
  await pool.end();
  expect(structures[0]).toEqual(structures[1]);
});
