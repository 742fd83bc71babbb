import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { err, ok } from "neverthrow";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  aSubmittingTask,
  noon,
  openATask,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import type { SqliteInstallation, Tables } from "../../../adapters/persistence/database/schema/installation.js";
import { migrate, migrationTexts } from "../../../adapters/persistence/database/schema/migrate.js";
import { STEPS } from "../../../adapters/persistence/database/schema/table-sets.js";
import { openDatabase } from "../../../adapters/persistence/open-database.js";
import { sqlStores } from "../../../adapters/persistence/sql-stores.js";
import { credits } from "../../../domain/credits/credits.js";
import { RATE_LIMITS } from "../../../domain/panorama-policy.js";
import { runCase } from "../../faults/run-case.js";
import { SCENARIOS } from "../../faults/scenarios.js";

const PREFIX = "panorama_";
const BOTH = ["panoramas", "meter"] as const satisfies readonly Tables[];
/** `SQLITE_DENY` and `SQLITE_OK`, and the actions that name a table, an index or a trigger. */
const [OK, DENY] = [0, 1];
const NAMES_TABLE: ReadonlySet<number> = new Set([9, 18, 20, 23, 26]); // delete, insert, read, update, alter table
const NAMES_OBJECT: ReadonlySet<number> = new Set([1, 2, 7, 8, 10, 11, 16, 17]); // create and drop

/**
 * The database of an embedder, with tables that have the names of ours. `refused` are the accesses of our statements to
 * them, which SQLite refuses.
 */
const embeddersDatabase = (file: string) => {
  const sqlite = new DatabaseSync(file);
  sqlite.exec("pragma synchronous = off"); // no test ends this process
  const refused: string[] = [];
  const isOurs = (name: string | null) =>
    name === null || name.startsWith(PREFIX) || /^(sqlite_|json_each$)/.test(name);
  sqlite.setAuthorizer((action, first, second) => {
    const tables = NAMES_TABLE.has(action) ? [action === 26 ? second : first] : [];
    const named = NAMES_OBJECT.has(action) ? [first, second] : tables;
    const foreign = named.filter((name) => !isOurs(name));
    if (foreign.length === 0) return OK;
    refused.push(foreign.join(" "));
    return DENY;
  });
  return { sqlite, refused };
};

const installationOn = (sqlite: InstanceType<typeof DatabaseSync>) => ({ sqlite, prefix: PREFIX, tables: BOTH });

/** Of one migrated file, which the tests copy: migrating takes longer than most of them. */
let folder: string;
let copies = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "panorama-embedded-"));
  const file = join(folder, "migrated.sqlite");
  const own = new DatabaseSync(file);
  own.exec("create table account (id integer primary key, name text)");
  own.exec("create table task (id integer primary key, title text)");
  own.exec("insert into account (name) values ('acme'); insert into task (title) values ('buy milk')");
  own.close();
  const { sqlite, refused } = embeddersDatabase(file);
  await migrate(installationOn(sqlite));
  sqlite.exec("drop trigger panorama_ledger_entry_no_delete"); // so that a case can begin with an empty ledger
  expect(refused).toEqual([]);
  sqlite.close();
});
afterAll(() => rm(folder, { recursive: true }));

const stores = async () => {
  copies += 1;
  const file = join(folder, `${copies}.sqlite`);
  await copyFile(join(folder, "migrated.sqlite"), file);
  const { sqlite, refused } = embeddersDatabase(file);
  const database = await openDatabase(installationOn(sqlite));
  const close = async () => {
    await database.close();
    expect(refused).toEqual([]);
    sqlite.close();
    await rm(file);
  };
  return { database, ...sqlStores(database), close };
};

it.each(SCENARIOS)("serves on an embedder's SQLite connection, with its own tables alone: $name", async (scenario) => {
  const { database, close } = await stores();
  const { findings, ends } = await runCase(database, scenario);
  expect([findings, ends]).toEqual([[], scenario.ends]);
  await close();
});

const schemaOf = (sqlite: InstanceType<typeof DatabaseSync>) =>
  sqlite.prepare("select type, name, tbl_name, sql from sqlite_master order by name").all();

describe("stores on an embedder's SQLite connection", () => {
  let sqlite: InstanceType<typeof DatabaseSync>;
  let installation: SqliteInstallation;

  beforeEach(() => {
    sqlite = new DatabaseSync(":memory:");
    sqlite.exec("create table customer (id integer primary key, name text)");
    installation = { sqlite, prefix: PREFIX, tables: BOTH };
  });
  afterEach(() => sqlite.close());

  const names = (): unknown[] => sqlite.prepare("select name from customer order by id").all().map(nameOf);

  it("refuse to open before the migration", async () => {
    await expect(openDatabase(installation)).rejects.toThrow(
      "The tables of prefix panorama_ are not up to date: call migrate() first.",
    );
    await migrate({ ...installation, tables: ["meter"] });
    await expect(openDatabase(installation)).rejects.toThrow("call migrate() first");
    await expect(openDatabase({ ...installation, tables: ["meter"] })).resolves.toMatchObject({ dialect: "sqlite" });
  });

  it.each(["", "a-b", 'x"; drop table customer; --', "sqlite_x", "Upper", "x".repeat(33), "1st"])(
    "refuse the prefix %j",
    async (prefix) => {
      await expect(migrate({ ...installation, prefix })).rejects.toThrow("The table prefix");
      await expect(openDatabase({ ...installation, prefix })).rejects.toThrow("cannot be used");
    },
  );

  it("migrate once, and leave other tables unchanged", async () => {
    sqlite.exec("insert into customer (name) values ('acme')");
    const before = schemaOf(sqlite);
    await migrate(installation);
    const after = schemaOf(sqlite);
    const ours = (row: unknown) => /^(panorama_|sqlite_autoindex_panorama_|sqlite_sequence)/.test(nameOf(row));
    expect(after.filter((row) => !ours(row))).toEqual(before);
    await Promise.all([migrate(installation), migrate(installation)]);
    expect(schemaOf(sqlite)).toEqual(after);
    expect(names()).toEqual(["acme"]);
    const run = sqlite.prepare("select name from panorama_schema_migration order by id").all().map(nameOf);
    expect(run).toEqual([...STEPS.panoramas, ...STEPS.meter].map(({ name }) => name));
  });

  it("change nothing if a name is taken", async () => {
    sqlite.exec("create table panorama_webhook_delivery (id integer)");
    const before = schemaOf(sqlite);
    await expect(migrate(installation)).rejects.toThrow("panorama_webhook_delivery already exists");
    expect(schemaOf(sqlite)).toEqual(before);
    expect(sqlite.isTransaction).toBe(false);
  });

  it("migrate with the SQL texts in an embedder's own tool", async () => {
    for (const { statements } of migrationTexts({ dialect: "sqlite", name: PREFIX, tables: BOTH })) {
      sqlite.exec(`begin; ${statements.join(";\n")}; commit`);
    }
    const byTexts = schemaOf(sqlite);
    await migrate(installation); // finds nothing to do
    expect(schemaOf(sqlite)).toEqual(byTexts);
    const other = new DatabaseSync(":memory:");
    other.exec("create table customer (id integer primary key, name text)");
    await migrate({ ...installation, sqlite: other });
    expect(schemaOf(other)).toEqual(byTexts);
    other.close();
    await openDatabase(installation);
  });

  it("never take a statement of the embedder into a transaction of theirs", async () => {
    await migrate(installation);
    const database = await openDatabase(installation);
    const { accounts, tasks, ledger } = sqlStores(database);
    await accounts.open(anAccount(), { order: aPaidOrder({ credits: credits(1_000) }) });
    const insert = sqlite.prepare("insert into customer (name) values (?)");
    const expected: string[] = [];
    let ends = false;
    /** Writes in every turn of the event loop, and between the steps of others, as an embedder's requests do. */
    const embedder = async (id: string) => {
      for (let n = 0; !ends; n += 1) {
        expect(sqlite.isTransaction).toBe(false);
        insert.run(`${id}-${n}`);
        expected.push(`${id}-${n}`);
        if (n % 3 === 0) await Promise.resolve();
        else await turn();
      }
    };
    const writers = ["a", "b", "c"].map(embedder);
    const open = (n: number) =>
      tasks.open({
        account: accountId(1),
        dueAt: noon,
        decide: (standing) =>
          n % 2 === 0
            ? openATask({ ...standing, activeTasks: 0 }, aSubmittingTask({ id: taskId(n) }), noon)
            : err({ kind: "too_many_active_tasks", limit: 5 } as const),
      });
    const opened = await Promise.all(Array.from({ length: 100 }, (_, n) => open(n)));
    for await (const { entries } of ledger.all()) expect(entries).toHaveLength(1 + 50);
    const failed = database.transaction(async (sql) => {
      await sql("update account set credits = 0");
      throw new Error("rolls back");
    });
    await expect(failed).rejects.toThrow("rolls back");
    ends = true;
    await Promise.all(writers);
    expect(opened.filter((result) => result.isErr())).toHaveLength(50);
    expect(names().sort()).toEqual(expected.sort());
    expect(await ledger.balance(accountId(1))).toBe(1_000 - 50 * 4);
  });

  it("begin no snapshot while the embedder is at work in the same turn", async () => {
    await migrate(installation);
    const database = await openDatabase(installation);
    const snapshot = database.snapshot(async (sql) => {
      const counts: unknown[] = [];
      for (let n = 0; n < 20; n += 1) counts.push((await sql("select count(*) as customers from customer"))[0]);
      return counts;
    });
    for (let n = 0; n < 20; n += 1) {
      expect(sqlite.isTransaction).toBe(false);
      sqlite.exec("insert into customer (name) values ('acme')");
      await Promise.resolve();
    }
    expect(await snapshot).toEqual(Array(20).fill({ customers: 20 }));
    expect(names()).toHaveLength(20);
  });

  it("wait for a transaction that the embedder has left open", async () => {
    await migrate(installation);
    const { accounts } = sqlStores(await openDatabase(installation));
    sqlite.exec("begin; insert into customer (name) values ('lost')");
    let opened = false;
    const opening = accounts.open(anAccount()).then(() => {
      opened = true;
    });
    for (let n = 0; n < 50; n += 1) await turn();
    expect(opened).toBe(false);
    sqlite.exec("rollback");
    await opening;
    expect(names()).toEqual([]);
    expect(await accounts.find(accountId(1))).toEqual(anAccount());
  });

  it("remember no key within a turn of the event loop, because anybody may write on the connection", async () => {
    await migrate(installation);
    const { accounts, keys, countersAt } = sqlStores(await openDatabase(installation));
    await accounts.open(anAccount(), { order: aPaidOrder() });
    await keys.insert(anApiKey(), () => ok(undefined));
    const requests = countersAt(new HandClock(), RATE_LIMITS).apiRequests;
    const admitted = async () => (await requests.admit(anApiKey().secretSha256, "read")).isOk();
    const revoked = keys.revoke(anApiKey().id, noon); // it commits at the end of this turn
    expect(await admitted()).toBe(true);
    await revoked;
    expect(await admitted()).toBe(false);
    sqlite.exec("update panorama_api_key set revoked_at = null");
    expect(await admitted()).toBe(true);
    sqlite.exec("update panorama_api_key set revoked_at = 1");
    sqlite.exec("begin; update panorama_api_key set revoked_at = null");
    expect(await admitted()).toBe(true); // as the embedder's own statements see it
    sqlite.exec("rollback");
    expect(await admitted()).toBe(false);
  });

  it("set no pragma, and leave the connection open", async () => {
    const pragmas = () =>
      ["journal_mode", "synchronous", "foreign_keys", "busy_timeout", "cache_size", "query_only"].map((name) =>
        sqlite.prepare(`pragma ${name}`).all(),
      );
    const before = pragmas();
    await migrate(installation);
    const database = await openDatabase(installation);
    await sqlStores(database).accounts.open(anAccount());
    await database.close();
    expect(pragmas()).toEqual(before);
  });
});

const nameOf = (row: unknown): string => String((row as { readonly name: unknown }).name);
