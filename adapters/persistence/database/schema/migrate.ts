import { setTimeout } from "node:timers/promises";
import type { Dialect } from "../sql/database.js";
import { isBusy } from "../sql/database-error.js";
import type { Installation, PoolClient, PostgresPool, SqliteHandle, Tables } from "./installation.js";
import { migrationState, refuseOther } from "./migration-state.js";
import { MIGRATION_LOCK, MIGRATION_TABLE, pendingSteps, type RecordedStep } from "./migration-steps.js";
import { MIGRATION_LOCK_MILLISECONDS, repeatWhileLocked } from "./postgres-migration-lock.js";
import type { Step } from "./step.js";
import { namesInSchema, namesWithPrefix, type TableNames } from "./table-names.js";
import { stepsOf } from "./table-sets.js";

/** How long `migrate` waits while another process writes to the SQLite file, or its owner has an open transaction. */
const BUSY_MILLISECONDS = 10_000;
const BUSY_PAUSE_MILLISECONDS = 5;

/**
 * Creates and migrates the tables of an installation in an embedder's database. A new installation is made in one
 * transaction: if a statement fails, such as the creation of a table whose name is taken, nothing has changed. What
 * belongs to others is not touched. Processes that call it at the same time wait for each other, and a call with
 * nothing to do changes nothing. A schema that does not exist is created.
 *
 * On PostgreSQL it may run while other processes work on the tables: each step of an update is a transaction of its
 * own, which gives way to theirs and is repeated for up to two minutes. It takes as long as it needs, up to the pool's
 * `query_timeout`.
 *
 * The service migrates its own database in the same way, so a database can be taken over in either direction.
 */
export const migrate = (installation: Installation): Promise<void> =>
  "pool" in installation
    ? migratePool(installation.pool, stepsOf(installation.tables), installation.schema)
    : migrateHandle(installation.sqlite, stepsOf(installation.tables), installation.prefix);

/** The names of an installation, without its connection. */
export type InstallationNames = {
  readonly dialect: Dialect;
  /** The schema on PostgreSQL, or the table prefix on SQLite. */
  readonly name?: string | undefined;
  readonly tables: readonly Tables[];
};

export type MigrationText = { readonly name: string; readonly statements: readonly string[] };

/**
 * The SQL of `migrate`, for an embedder's own migration tool: one migration per step. Execute each once, in this order,
 * in a transaction. A later version only appends steps. They record themselves: `openDatabase` knows them, and
 * `migrate` may follow.
 */
export function migrationTexts({ dialect, name, tables }: InstallationNames): readonly MigrationText[] {
  const names = dialect === "postgresql" ? namesInSchema(name) : namesWithPrefix(name);
  const [first, ...others] = stepsOf(tables).map((step) => ({
    name: step.name,
    statements: statementsOf(step, dialect, names),
  }));
  if (first === undefined) return [];
  const schema = dialect === "postgresql" && name !== undefined ? [`create schema if not exists "${name}"`] : [];
  return [{ ...first, statements: [...schema, recordTable(dialect, names), ...first.statements] }, ...others];
}

const statementsOf = ({ name, up }: Step, dialect: Dialect, names: TableNames): readonly string[] => [
  ...up[dialect].map(names.inMigration),
  `insert into ${names.of(MIGRATION_TABLE)} (name) values ('${name}')`,
];

function recordTable(dialect: Dialect, names: TableNames): string {
  const table = `create table if not exists ${names.of(MIGRATION_TABLE)}`;
  return dialect === "postgresql"
    ? `${table} (id serial primary key, name varchar(255), executed_at timestamptz default current_timestamp)`
    : `${table} (id integer not null primary key autoincrement, name varchar(255), executed_at datetime default current_timestamp)`;
}

/** `migrate` with these steps. */
export async function migratePool(pool: PostgresPool, steps: readonly Step[], schema?: string): Promise<void> {
  const names = namesInSchema(schema);
  const client = await pool.connect();
  const ignore = (): void => {}; // a lost connection fails the statement in progress
  client.on("error", ignore);
  let broken = false;
  const attempt = () =>
    migrateInTransaction(client, steps, names, schema).catch(async (error: unknown) => {
      await client.query({ text: "rollback" }).catch(() => {
        broken = true;
      });
      throw error;
    });
  try {
    for (let isPending = true; isPending; ) isPending = await repeatWhileLocked(attempt);
  } finally {
    client.off("error", ignore);
    client.release(broken);
  }
}

/**
 * Runs all steps of a new installation, whose tables nobody uses yet, or the next step of an existing one. Returns
 * whether more are pending. Migrations may take long, so the limits of the embedder's requests do not apply to them.
 */
async function migrateInTransaction(
  client: PoolClient,
  steps: readonly Step[],
  names: TableNames,
  schema: string | undefined,
): Promise<boolean> {
  await client.query({
    text: `begin isolation level read committed; set local lock_timeout = 0; set local statement_timeout = 0;
      set local idle_in_transaction_session_timeout = 0; select pg_advisory_xact_lock(${MIGRATION_LOCK});
      set local lock_timeout = ${MIGRATION_LOCK_MILLISECONDS}`,
  });
  const isNew = await createRecordTable(client, names, schema);
  const { rows } = await client.query({ text: `select name from ${names.of(MIGRATION_TABLE)}` });
  refuseOther("The database", migrationState(rows));
  const pending = pendingSteps(rows, steps);
  for (const step of isNew ? pending : pending.slice(0, 1)) {
    for (const text of statementsOf(step, "postgresql", names)) await client.query({ text });
  }
  await client.query({ text: "commit" });
  return !isNew && pending.length > 1;
}

/** Returns whether the table was missing. */
async function createRecordTable(client: PoolClient, names: TableNames, schema: string | undefined): Promise<boolean> {
  const table = names.of(MIGRATION_TABLE);
  const known = await client.query({ text: "select to_regclass($1) is not null as there", values: [table] });
  if (known.rows[0]?.there === true) return false;
  if (schema !== undefined) {
    // `create schema if not exists` needs a right that the embedder may not give us where the schema exists.
    const { rows } = await client.query({ text: "select 1 from pg_namespace where nspname = $1", values: [schema] });
    if (rows.length === 0) await client.query({ text: `create schema "${schema}"` });
  }
  await client.query({ text: recordTable("postgresql", names) });
  return true;
}

/** `migrate` with these steps. */
export async function migrateHandle(sqlite: SqliteHandle, steps: readonly Step[], prefix?: string): Promise<void> {
  const names = namesWithPrefix(prefix);
  const deadline = performance.now() + BUSY_MILLISECONDS;
  for (;;) {
    try {
      return runOnConnection(sqlite, steps, names);
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await setTimeout(BUSY_PAUSE_MILLISECONDS);
    }
  }
}

/** Synchronous, so that nobody else's statements become part of the transaction. */
function runOnConnection(sqlite: SqliteHandle, steps: readonly Step[], names: TableNames): void {
  const execute = (statement: string) => sqlite.prepare(statement).run();
  execute("begin immediate");
  try {
    execute(recordTable("sqlite", names));
    const rows = sqlite.prepare(`select name from ${names.of(MIGRATION_TABLE)}`).all() as RecordedStep[];
    refuseOther("The database", migrationState(rows));
    for (const step of pendingSteps(rows, steps)) {
      for (const statement of statementsOf(step, "sqlite", names)) execute(statement);
    }
    execute("commit");
  } catch (error) {
    if (sqlite.isTransaction) execute("rollback");
    throw error;
  }
}
