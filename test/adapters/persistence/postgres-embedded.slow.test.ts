import { randomBytes } from "node:crypto";
import { ok } from "neverthrow";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  aSubmittingTask,
  noon,
  openATask,
} from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import type { PostgresPool, Tables } from "../../../adapters/persistence/database/schema/installation.js";
import { migrate, migrationTexts } from "../../../adapters/persistence/database/schema/migrate.js";
import { STEPS } from "../../../adapters/persistence/database/schema/table-sets.js";
import type { AnyDatabase } from "../../../adapters/persistence/database/sql/database.js";
import { openDatabase } from "../../../adapters/persistence/open-database.js";
import { sqlStores } from "../../../adapters/persistence/sql-stores.js";
import { credits } from "../../../domain/credits/credits.js";
import type { Standing } from "../../../domain/credits/standing.js";
import { RATE_LIMITS } from "../../../domain/panorama-policy.js";
import type { SubmittingTask } from "../../../domain/tasks/task.js";
import { runCase } from "../../faults/run-case.js";
import { SCENARIOS } from "../../faults/scenarios.js";
import { freshDatabase } from "../../support/postgres.js";
import { structureOf } from "../../support/structure-of.js";

const BOTH = ["panoramas", "meter"] as const satisfies readonly Tables[];
const SCHEMA = "panorama";

/**
 * A database of an embedder. The schema `public` has tables with the names of ours, and the schema `panorama` has a
 * table of the embedder. `pool` has a role without any right on these: PostgreSQL refuses a statement that names the
 * wrong table.
 */
const embeddersDatabase = async () => {
  const connectionString = await freshDatabase(); // its schema `public` is an installation of the service
  const role = `embedder_${randomBytes(6).toString("hex")}`;
  const admin = new pg.Pool({ connectionString, max: 2 });
  await admin.query(`create role ${role}`);
  for (const schema of [SCHEMA, "tenant_b"]) {
    await admin.query(`create schema ${schema}; grant usage, create on schema ${schema} to ${role}`);
  }
  await admin.query("create table panorama.customer (id int primary key, name text)");
  await admin.query("insert into panorama.customer values (1, 'acme')");
  const pool = new pg.Pool({ connectionString, max: 4, options: `-c role=${role}` });
  const close = async () => {
    await pool.end();
    await admin.query(`drop owned by ${role}; drop role ${role}`);
    await admin.end();
  };
  return { admin, pool, role, connectionString, close };
};

describe("on an embedder's pool", () => {
  let embedder: Awaited<ReturnType<typeof embeddersDatabase>>;
  let database: AnyDatabase;

  beforeAll(async () => {
    embedder = await embeddersDatabase();
    const installation = { pool: embedder.pool, schema: SCHEMA, tables: BOTH };
    await migrate(installation);
    database = await openDatabase(installation);
    // What empties the tables before a scenario runs no triggers.
    await embedder.admin.query(`grant set on parameter session_replication_role to ${embedder.role}`);
  });
  afterAll(async () => {
    const customers = await embedder.admin.query("select * from panorama.customer");
    expect(customers.rows).toEqual([{ id: 1, name: "acme" }]);
    const accounts = await embedder.admin.query("select count(*) as n from public.account");
    expect(accounts.rows).toEqual([{ n: "0" }]);
    await embedder.close();
  });

  it.each(SCENARIOS)("serves in a schema of its own: $name", async (scenario) => {
    const { findings, ends } = await runCase(database, scenario);
    expect([findings, ends]).toEqual([[], scenario.ends]);
  });
});

const decide = (task: SubmittingTask) => (standing: Standing) => openATask(standing, task, noon);

describe("stores on an embedder's pool", () => {
  let embedder: Awaited<ReturnType<typeof embeddersDatabase>>;
  let pool: pg.Pool;

  beforeEach(async () => {
    embedder = await embeddersDatabase();
    ({ pool } = embedder);
  });
  afterEach(() => embedder.close());

  const opened = async (using: PostgresPool = pool, schema: string | undefined = SCHEMA) => {
    const installation = { pool: using, schema, tables: BOTH };
    await migrate(installation);
    return openDatabase(installation);
  };

  /** Another pool of the same role. */
  const otherPool = (config: pg.PoolConfig = {}): pg.Pool => {
    const { connectionString, role } = embedder;
    const other = new pg.Pool({ connectionString, options: `-c role=${role}`, ...config });
    onTestFinished(() => other.end());
    return other;
  };

  it("refuse to open before the migration", async () => {
    const installation = { pool, schema: SCHEMA, tables: BOTH };
    const message = "The tables of schema panorama are not up to date: call migrate() first.";
    await expect(openDatabase(installation)).rejects.toThrow(message);
    await migrate({ ...installation, tables: ["meter"] });
    await expect(openDatabase(installation)).rejects.toThrow(message);
    await expect(openDatabase({ ...installation, tables: ["meter"] })).resolves.toMatchObject({
      dialect: "postgresql",
    });
  });

  it.each(["", "Panorama", 'x"; drop schema panorama; --', "pg_x", "x".repeat(64), "a b"])(
    "refuse the schema %j",
    async (schema) => {
      await expect(migrate({ pool, schema, tables: BOTH })).rejects.toThrow("The schema");
      await expect(openDatabase({ pool, schema, tables: BOTH })).rejects.toThrow("cannot be used");
    },
  );

  it("refuse connections with another isolation level", async () => {
    await opened();
    const serializable = otherPool({
      options: `-c role=${embedder.role} -c default_transaction_isolation=serializable`,
    });
    await expect(openDatabase({ pool: serializable, schema: SCHEMA, tables: BOTH })).rejects.toThrow(
      'default_transaction_isolation "serializable". The stores need "read committed".',
    );
  });

  it("migrate once with concurrent processes, to the tables of the service", async () => {
    await Promise.all([1, 2, 3, 4].map(() => migrate({ pool: otherPool(), schema: SCHEMA, tables: BOTH })));
    const { rows } = await pool.query("select name from panorama.schema_migration order by id");
    expect(rows.map(({ name }) => name)).toEqual([...STEPS.panoramas, ...STEPS.meter].map(({ name }) => name));
    expect(await structureOf(embedder.admin, SCHEMA)).toEqual(await structureOf(embedder.admin, "public"));
  });

  it("change nothing if a name is taken", async () => {
    const { admin } = embedder;
    await admin.query("create table panorama.webhook_delivery (id int)");
    await expect(migrate({ pool, schema: SCHEMA, tables: BOTH })).rejects.toThrow(
      'relation "webhook_delivery" already exists',
    );
    const { rows } = await admin.query("select tablename from pg_tables where schemaname = 'panorama' order by 1");
    expect(rows).toEqual([{ tablename: "customer" }, { tablename: "webhook_delivery" }]);
    expect(pool.idleCount).toBe(pool.totalCount);
  });

  it("migrate with the SQL texts in an embedder's own tool", async () => {
    const { admin } = embedder;
    for (const { statements } of migrationTexts({ dialect: "postgresql", name: "texts", tables: BOTH })) {
      await admin.query(`begin; ${statements.join(";\n")}; commit`);
    }
    await openDatabase({ pool: admin, schema: "texts", tables: BOTH });
    await migrate({ pool: admin, schema: "texts", tables: BOTH }); // finds nothing to do
    expect(await structureOf(admin, "texts")).toEqual(await structureOf(admin, "public"));
  });

  it("change no setting of a connection, and limit the time of their transactions", async () => {
    const one = otherPool({ max: 1, statement_timeout: 60_000 });
    const settings = async () =>
      (await one.query("select name, setting from pg_settings where name <> 'transaction_isolation' order by name"))
        .rows;
    const database = await opened(one);
    const before = await settings();
    await sqlStores(database).accounts.open(anAccount());
    const names = ["transaction_isolation", "lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"];
    const within = await database.transaction<unknown, never>(async (sql) =>
      ok((await sql(`select ${names.map((name) => `current_setting('${name}') as ${name}`).join(", ")}`))[0]),
    );
    expect(within._unsafeUnwrap()).toEqual({
      transaction_isolation: "read committed",
      lock_timeout: "3s",
      statement_timeout: "4s",
      idle_in_transaction_session_timeout: "4s",
    });
    expect(await settings()).toEqual(before);
    await database.close();
    expect((await one.query("select 1 as still_open")).rows).toEqual([{ still_open: 1 }]);
  });

  it("do not depend on the type parsers that the embedder has set for its driver", async () => {
    const { accounts, keys, countersAt, tasks, ledger } = sqlStores(await opened());
    const types = [16, 20, 23, 114, 1043, 1184, 3802];
    const parsers = types.map((type) => pg.types.getTypeParser(type as never));
    onTestFinished(() => {
      for (const [index, type] of types.entries()) pg.types.setTypeParser(type, parsers[index] as never);
    });
    for (const type of types) pg.types.setTypeParser(type, () => ({ wrapped: true }) as never);
    await accounts.open(anAccount(), { order: aPaidOrder({ credits: credits(10) }) });
    await keys.insert(anApiKey(), () => ok(undefined));
    const task = aSubmittingTask();
    await tasks.open({ account: accountId(1), dueAt: noon, decide: decide(task) });
    const admitted = await countersAt(new HandClock(), RATE_LIMITS).apiRequests.admit(
      anApiKey().secretSha256,
      "read",
      task.id,
    );
    expect(admitted._unsafeUnwrap().task).toEqual(task);
    expect((await ledger.list(accountId(1), 5, undefined)).map(({ entry }) => entry.credits)).toEqual([-4, 10]);
  });
});
