import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { MikroORM } from "@mikro-orm/core";
import { PostgreSqlDriver } from "@mikro-orm/postgresql";
import { ok } from "neverthrow";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import {
  accountId,
  aReservedTask,
  noon,
  openATask,
  orderId,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { postgresDatabase } from "../../../adapters/persistence/postgres/open-postgres-database.js";
import { migratePostgresDatabase } from "../../../adapters/persistence/schema/migrate-postgres.js";
import { migrateSqlite } from "../../../adapters/persistence/schema/migrate-sqlite.js";
import { migrationSteps } from "../../../adapters/persistence/schema/migration-steps.js";
import { ormOptions } from "../../../adapters/persistence/schema/orm-options.js";
import { SqliteOrmDriver } from "../../../adapters/persistence/schema/sqlite-orm-driver.js";
import type { Dialect } from "../../../adapters/persistence/sql/database.js";
import { openSqliteFile, sqliteFile } from "../../../adapters/persistence/sqlite/open-sqlite-file.js";
import { SqliteDatabase } from "../../../adapters/persistence/sqlite/sqlite-database.js";
import { verifyLedger } from "../../../application/credits/verify-ledger.js";
import { fail, type SubmittedTask } from "../../../domain/tasks/task.js";
import { administer, databaseUrl } from "../../support/postgres.js";
import { type AnyDatabase, sqlStores } from "../../support/sql-stores.js";

type Values = Readonly<Record<string, unknown>>;
type Rows = Readonly<Record<string, readonly Values[]>>;

const owner = accountId(1);
const later = secondsAfter(noon, 60);
const PRICE = 4;
const BOUGHT = 100;

const core = (n: number): Values => ({
  id: taskId(n),
  account_id: owner,
  slug: `slug-${n}`,
  resolution: "1k",
  prompt: "a lake at sunset",
  image_urls: "[]",
  visibility: "private",
  credits: PRICE,
  reserved_at: noon,
  fence: 1,
  seed: 7,
  metadata: JSON.stringify({ order: "A-17" }),
  webhook_url: "https://receiver.example/hook",
});
const submitted: Values = { state: "submitted", submitted_at: noon, upstream_task_id: "upstream", due_at: later };
const finished: Values = {
  ...submitted,
  state: "succeeded",
  succeeded_at: later,
  temporary_url: "https://provider.example/1.png",
  image_name: `panoramas/${"x".repeat(22)}.jpg`,
};

/** One task in each state that a version knows: those that came with a column need it. */
const tasksOf = (columns: ReadonlySet<string>): readonly Values[] => [
  { ...core(1), state: "reserved", due_at: later },
  { ...core(2), ...submitted },
  { ...core(3), ...finished, storage_status: "saved", due_at: null, native_width: 2048, native_height: 1024 },
  { ...core(4), ...finished, storage_status: "uploading", failed_attempts: 1 },
  { ...core(5), ...submitted, state: "failed", failed_at: later, failure_reason: "generation_failed", due_at: null },
  ...(columns.has("turn") ? [{ ...core(6), state: "queued", turn: 3, due_at: later }] : []),
  ...(columns.has("native_width") ? [{ ...core(7), ...finished, state: "generated", succeeded_at: null }] : []),
];
const ACTIVE = ["reserved", "submitted", "queued", "generated"];

/** Rows for every table of every version. Only the columns that a version has are inserted. */
const rowsFor = (columnsOfTask: ReadonlySet<string>): Rows => {
  const task = tasksOf(columnsOfTask);
  const failed = task.filter(({ state }) => state === "failed");
  const account = { email: "ann@example.com", password_hash: "hash", created_at: noon, last_turn: 3, last_event: 1 };
  const entry = { account_id: owner, at: noon };
  const [taken] = task;
  return {
    account: [
      {
        ...account,
        id: owner,
        credits: BOUGHT - PRICE * (task.length - failed.length),
        active_tasks: task.filter(({ state }) => ACTIVE.includes(String(state))).length,
        low_balance_threshold: 10,
      },
      { ...account, id: accountId(2), email: "ben@example.com", credits: 0, active_tasks: 0 },
    ],
    api_key: [
      {
        id: "key-1",
        account_id: owner,
        name: "first",
        secret_sha256: "0".repeat(64),
        created_at: noon,
        credits_per_day: 50,
      },
    ],
    key_spending: [{ api_key_id: "key-1", day: 20_000, credits: PRICE }],
    credit_order: [
      { id: orderId(1), account_id: owner, credits: BOUGHT, created_at: noon, paid_at: noon },
      { id: orderId(2), account_id: owner, credits: 5, created_at: later },
    ],
    payment_return: [{ id: "re_1", kind: "refund", payment_id: "pi_1", cents: 100, at: noon, recorded_at: noon }],
    task,
    task_metadata: task.map(({ id }) => ({ account_id: owner, key: "order", value: "A-17", task_id: id })),
    ledger_entry: [
      { ...entry, kind: "purchase", credits: BOUGHT, order_id: orderId(1) },
      ...task.map(({ id }) => ({ ...entry, kind: "reservation", credits: -PRICE, task_id: id })),
      ...failed.map(({ id }) => ({ ...entry, kind: "refund", credits: PRICE, task_id: id })),
    ],
    idempotency_key: [
      { account_id: owner, key: "once", task_id: taken?.id, request_sha256: "0".repeat(64), created_at: noon },
    ],
    rate_limit: [{ api_key_id: "key-1", kind: "write", admissions: [noon.getTime()], admitted: true }],
    session: [{ token_sha256: "1".repeat(64), account_id: owner, created_at: noon, expires_at: later }],
    password_link: [{ token_sha256: "2".repeat(64), email: "ann@example.com", expires_at: later }],
    reference_image: [{ name: "references/a.png", content: "a", bytes: 7 }],
    reference_upload: [{ account_id: owner, name: "references/a.png", uploaded_at: noon }],
    task_reference: [{ task_id: taken?.id, name: "references/a.png" }],
    event: [{ account_id: owner, number: 1, type: "panorama.failed", task_id: failed[0]?.id, at: later }],
    webhook_endpoint: [
      { id: "ep-1", account_id: owner, url: "https://receiver.example/", secret: "whsec_x", created_at: noon },
    ],
    webhook_delivery: [
      {
        endpoint_id: "ep-1",
        account_id: owner,
        number: 1,
        task_id: failed[0]?.id,
        lane: "ep-1",
        state: "pending",
        attempts: 0,
        due_at: later,
        fence: 0,
      },
    ],
    webhook_receiver: [{ name: "ep-1", verified_at: noon, failures: 0, next_at: noon }],
    operator_action: [{ at: noon, operator: "ann@host", command: "key revoke", arguments: "{}", outcome: "done" }],
    operator_login: [{ name: "ann", password_hash: "h", code_secret: "ABCDEFGH", code_step: 7, created_at: noon }],
    operator_session: [{ token_sha256: "3".repeat(64), operator: "ann", expires_at: later }],
    retention: [{ retained: "finished_images", in_force: 86_400_000, confirmed: null, confirmed_from: null }],
    letter: [{ id: "letter-1", kind: "sign_up", recipient: "ann@example.com", attempt: 0, due_at: later }],
    maintenance: [{ id: 1, message: "Back soon.", since: noon }],
    installation_secret: [{ name: "provenance log", value: "secret" }],
    made_file: [{ digest: "4".repeat(64), provider: "local", made_at: noon }],
    report: [{ task_id: taskId(1), network: "5".repeat(64), reason: "other", text: "why", reported_at: noon }],
  };
};

/** In an order in which every row finds the rows that it refers to. */
const ORDER = Object.keys(rowsFor(new Set()));

/** The columns of the tables, without the migrator's table and the queue's single row, which a migration inserts. */
const columnsOf = async ({ sql, dialect }: AnyDatabase): Promise<Map<string, Set<string>>> => {
  const rows = await sql(
    dialect === "sqlite"
      ? `select tables.name as table_name, columns.name as column_name from sqlite_master as tables
        join pragma_table_info(tables.name) as columns where tables.type = 'table' and tables.name not like 'sqlite_%'`
      : "select table_name, column_name from information_schema.columns where table_schema = current_schema()",
  );
  const columns = new Map<string, Set<string>>();
  for (const { table_name, column_name } of rows) {
    const table = String(table_name);
    // The tables of searches are filled by the application.
    if (/^(schema_migration|task_queue|task_search|task_words.*)$/.test(table)) continue;
    columns.set(table, (columns.get(table) ?? new Set()).add(String(column_name)));
  }
  return columns;
};

const insertRows = async ({ sql }: AnyDatabase, columns: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> => {
  const rows = rowsFor(columns.get("task") ?? new Set());
  expect(ORDER).toEqual(expect.arrayContaining([...columns.keys()])); // a new table needs a row here
  for (const table of ORDER.filter((name) => columns.has(name))) {
    for (const row of rows[table] ?? []) {
      const known = Object.entries(row).filter(([column]) => columns.get(table)?.has(column));
      const names = known.map(([column]) => column).join(", ");
      await sql(
        `insert into ${table} (${names}) values (${known.map(() => "?").join(", ")})`,
        known.map(([, value]) => value),
      );
    }
  }
};

/** All rows, with these columns only. As text: if a migration widens a number, PostgreSQL's driver returns text. */
const contentOf = async ({ sql }: AnyDatabase, columns: ReadonlyMap<string, ReadonlySet<string>>) => {
  const content: Record<string, unknown[]> = {};
  for (const [table, names] of columns) {
    const rows = await sql(`select ${[...names].join(", ")} from ${table}`);
    content[table] = rows
      .map((row) =>
        JSON.stringify(Object.values(row).map((value) => JSON.stringify(value ?? null).replaceAll('"', ""))),
      )
      .sort();
  }
  return content;
};

/** A database of a version: the migrations that come after it, and the connection of the service. */
type OldDatabase = { migrate(): Promise<void>; open(): AnyDatabase };

/** Databases of each version, in the order of the versions: each is a copy of one that is migrated step by step. */
type Versions = { upTo(step: string): Promise<OldDatabase> };

const migrateTo = async (step: string, options: object): Promise<void> => {
  const orm = await MikroORM.init(options);
  await orm.getMigrator().up({ to: step });
  await orm.close(true);
};

const VERSIONS: Readonly<Record<Dialect, (folder: string) => Promise<Versions>>> = {
  sqlite: async (folder) => {
    const file = join(folder, "newest.sqlite");
    const options = { ...ormOptions("sqlite"), driver: SqliteOrmDriver as never, dbName: file };
    return {
      upTo: async (step) => {
        await migrateTo(step, options);
        const copy = join(folder, `${step}.sqlite`);
        const newest = openSqliteFile(file);
        newest.execute(`vacuum into '${copy}'`); // with what is not yet moved from the write-ahead log into the file
        newest.close();
        return { migrate: () => migrateSqlite(copy), open: () => new SqliteDatabase(sqliteFile(copy)) };
      },
    };
  },
  postgresql: async () => {
    const server = inject("postgresUrl");
    const create = async (template: string) => {
      const name = `old_${Math.random().toString(36).slice(2)}`;
      await administer(server, `create database ${name} template ${template}`);
      return { name, url: databaseUrl(server, name) };
    };
    const newest = await create("template1");
    const options = { ...ormOptions("postgresql"), driver: PostgreSqlDriver, clientUrl: newest.url };
    return {
      upTo: async (step) => {
        await migrateTo(step, options);
        const { url } = await create(newest.name);
        return { migrate: () => migratePostgresDatabase(url), open: () => postgresDatabase(url, 2) };
      },
    };
  },
};

describe.each(["sqlite", "postgresql"] as const)("a %s database of an earlier version", (dialect) => {
  let folder: string;
  let versions: Versions;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-test-"));
    versions = await VERSIONS[dialect](folder);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(migrationSteps.map(({ name }, index) => [name, migrationSteps[index + 1]?.name ?? "no other one"] as const))(
    "made by the migrations up to %s keeps its data when %s and all later ones run",
    async (last) => {
      const target = await versions.upTo(last);
      const old = target.open();
      const columns = await columnsOf(old);
      await insertRows(old, columns);
      const before = await contentOf(old, columns);
      for (const [table, rows] of Object.entries(before)) expect(rows, table).not.toEqual([]);
      await old.close();

      await target.migrate();
      const database = target.open();
      expect(await contentOf(database, columns)).toEqual(before);
      const stores = sqlStores(database);
      const report = verifyLedger(stores);
      expect(await report()).toEqual({ accounts: 2, findings: [] });

      // The application reads the tasks, ends one and opens another one.
      const expected = tasksOf(columns.get("task") ?? new Set());
      const tasks = await stores.tasks.list(owner, 100, undefined);
      expect(tasks.map(({ id, state }) => ({ id, state })).reverse()).toEqual(
        expected.map(({ id, state }) => ({ id, state })),
      );
      const running = tasks.find(({ id }) => id === taskId(2)) as SubmittedTask;
      (await stores.tasks.move(running, fail(running, "generation_failed", later), undefined))._unsafeUnwrap();
      const draft = aReservedTask({ id: taskId(99), accountId: owner });
      const opened = await stores.tasks.open({
        account: owner,
        dueAt: later,
        decide: (standing) => openATask(standing, draft, later),
      });
      expect(opened.isOk()).toBe(true);
      expect(await stores.ledger.balance(owner)).toBe(BOUGHT - PRICE * (expected.length - 1));
      expect(await report()).toEqual({ accounts: 2, findings: [] });
      await database.close();
    },
  );
});

describe("the migrations of a PostgreSQL database on which a service works", () => {
  it("give way to its transactions, whatever tables they use in whatever order", async () => {
    const { upTo } = await VERSIONS.postgresql("");
    const { migrate, open } = await upTo("008-account-limits");
    const database = open();
    await insertRows(database, await columnsOf(database));

    let migrated: Promise<void> | undefined;
    const waiting = "select count(*)::int as waiting from pg_locks where not granted";
    const written = await database.transaction(async (sql) => {
      await sql("update account set last_turn = 5"); // the migrations change this table after the tasks
      migrated = migrate();
      while ((await database.sql(waiting))[0]?.waiting === 0) await setTimeout(5);
      await sql("update task set turn = 7 where id = ?", [taskId(2)]);
      return ok(undefined);
    });
    expect(written.isOk()).toBe(true);
    await migrated;
    expect(await database.sql("select turn, submissions from task where id = ?", [taskId(2)])).toEqual([
      { turn: 7, submissions: 0 },
    ]);
    await database.close();
  });
});
