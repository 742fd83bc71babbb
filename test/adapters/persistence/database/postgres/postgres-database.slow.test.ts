import { setTimeout } from "node:timers/promises";
import { err, ok } from "neverthrow";
import { afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { accountId, anAccount, aPaidOrder } from "../../../../../adapters/contracts/support/builders.js";
import { inspectPostgres } from "../../../../../adapters/persistence/database/inspect-postgres.js";
import { migratePostgresDatabase } from "../../../../../adapters/persistence/database/postgres/migrate-postgres.js";
import { openPostgresDatabase } from "../../../../../adapters/persistence/database/postgres/open-postgres-database.js";
import { migrationSteps } from "../../../../../adapters/persistence/database/schema/migration-steps.js";
import type { Database, Sql } from "../../../../../adapters/persistence/database/sql/database.js";
import { SystemClock } from "../../../../../adapters/system/system-clock.js";
import { administer, databaseUrl, freshDatabase } from "../../../../support/postgres.js";
import { postgresStores } from "../../../../support/postgres-stores.js";

describe("Database on PostgreSQL", () => {
  let url: string;
  let stores: Awaited<ReturnType<typeof postgresStores>>;
  let database: Database;

  beforeAll(async () => {
    url = await freshDatabase();
  });
  beforeEach(async () => {
    stores = await postgresStores(url);
    ({ database } = stores);
    await stores.accounts.open(anAccount(), { order: aPaidOrder() });
  });
  afterEach(() => stores.close());

  it("migrates once with concurrent processes, and does not open before", async () => {
    await administer(inject("postgresUrl"), "create database empty");
    const empty = databaseUrl(inject("postgresUrl"), "empty");
    await expect(openPostgresDatabase(empty, 2)).rejects.toThrow(
      "The database is not up to date: run panorama migrate first.",
    );
    await Promise.all([1, 2, 3, 4].map(() => migratePostgresDatabase(empty)));
    const opened = await openPostgresDatabase(empty, 2);
    expect(await opened.sql("select name from schema_migration order by id")).toEqual([{ name: "001-baseline" }]);
    await opened.close();
  });

  it("refuses to open or migrate after an incompatible later migration, but stays open", async () => {
    const ahead = await freshDatabase();
    const open = await openPostgresDatabase(ahead, 2);
    await open.sql("insert into schema_migration (name) values ('998-index-compatible')");
    await (await openPostgresDatabase(ahead, 2)).close();
    await migratePostgresDatabase(ahead);
    await open.sql("insert into schema_migration (name) values ('999-later')");
    for (const attempt of [() => openPostgresDatabase(ahead, 2), () => migratePostgresDatabase(ahead)]) {
      await expect(attempt()).rejects.toMatchObject({
        kind: "configuration",
        message:
          "The database is ahead of this version: a later one has run the migration 999-later. Start the later version, or " +
          "restore a backup from before it. Instances of this version that run already may go on until they are replaced.",
      });
    }
    expect(await open.sql("select 1 as one")).toEqual([{ one: 1 }]);
    await open.close();
  });

  it("refuses to open or migrate a database from before 3.0.0", async () => {
    const earlier = await freshDatabase();
    const open = await openPostgresDatabase(earlier, 2);
    await open.sql("update schema_migration set name = '001-tables'");
    for (const attempt of [() => openPostgresDatabase(earlier, 2), () => migratePostgresDatabase(earlier)]) {
      await expect(attempt()).rejects.toMatchObject({
        kind: "configuration",
        message:
          "The database was made by a version before 3.0.0, which this version cannot migrate. Start this version with an " +
          "empty database, and move each account: its balance is in panorama ledger show of the version before, and " +
          "panorama account create --email EMAIL --credits N makes it here.",
      });
    }
    await open.close();
  });

  it("gives way to the transactions of a service that works on it while a step runs", async () => {
    const busy = await freshDatabase();
    const open = await openPostgresDatabase(busy, 2);
    const step = (name: string, table: string) => ({
      name,
      up: { sqlite: [], postgresql: [`alter table ${table} add column later int null`] },
    });
    const steps = [...migrationSteps, step("002-accounts-compatible", "account"), step("003-tasks-compatible", "task")];

    let migrated: Promise<void> | undefined;
    const waiting = "select count(*)::int as waiting from pg_locks where not granted";
    const written = await open.transaction(async (sql) => {
      await sql("lock table task in share mode");
      await sql("lock table account in share mode");
      migrated = migratePostgresDatabase(busy, steps);
      while ((await open.sql(waiting))[0]?.waiting === 0) await setTimeout(5);
      await sql("update task_queue set round = 7");
      return ok(undefined);
    });
    expect(written.isOk()).toBe(true);
    await migrated;
    expect(await open.sql("select name from schema_migration order by id")).toEqual(
      steps.map(({ name }) => ({ name })),
    );
    expect(await open.sql("select round from task_queue")).toEqual([{ round: 7 }]);
    await open.close();
  });

  it("names the fix for a refused login and a missing database", async () => {
    const missing = databaseUrl(inject("postgresUrl"), "no_such_database");
    await expect(openPostgresDatabase(missing, 2)).rejects.toMatchObject({
      kind: "configuration",
      message:
        'PostgreSQL refuses the login: database "no_such_database" does not exist. Create it, or correct DATABASE_URL.',
    });
    const unknown = new URL(url);
    unknown.username = "nobody_known";
    await expect(openPostgresDatabase(unknown.href, 2)).rejects.toMatchObject({
      kind: "configuration",
      message:
        'PostgreSQL refuses the login: role "nobody_known" does not exist. Correct user and password in DATABASE_URL.',
    });
  });

  it("is refused to the service if it can only be read, and not to commands", async () => {
    const readOnly = new URL(url);
    readOnly.searchParams.set("options", "-c default_transaction_read_only=on"); // as on a standby
    const refusal = {
      kind: "configuration",
      message: expect.stringMatching(/^PostgreSQL can only be read: .*\. Set DATABASE_URL to the primary server\.$/),
    };
    await expect(openPostgresDatabase(readOnly.href, 2)).rejects.toMatchObject(refusal);
    await expect(inspectPostgres(readOnly.href, new SystemClock())).rejects.toMatchObject(refusal);
    await (await openPostgresDatabase(readOnly.href, 2, "commands")).close();
  });

  it("reads and writes on, when a migration adds a column to a table of prepared statements", async () => {
    const read = () => database.sql("select * from account");
    const readInTransaction = () =>
      database.transaction<number, never>(async (sql) => {
        await sql("update account set credits = credits");
        return ok((await sql("select * from account")).length);
      });
    // Every connection of the pool prepares the statements.
    await Promise.all(Array.from({ length: 8 }, read));
    await Promise.all(Array.from({ length: 8 }, readInTransaction));
    await administer(url, "alter table account add column later integer");
    try {
      expect(await Promise.all(Array.from({ length: 8 }, readInTransaction))).toEqual(Array(8).fill(ok(1)));
      expect((await Promise.all(Array.from({ length: 8 }, read))).map(({ length }) => length)).toEqual(
        Array(8).fill(1),
      );
    } finally {
      await administer(url, "alter table account drop column later");
    }
  });

  it("answers reads while a write waits for the lock of a transaction", async () => {
    const write = (sql = database.sql) => sql("update account set credits = credits");
    const read = (sql = database.sql) => sql("select id from account");
    const allOpen = barrier(4);
    const prepare = async (sql: Sql) => {
      await allOpen();
      await write(sql);
      return ok(await read(sql));
    };
    await Promise.all([1, 2, 3, 4].map(() => database.transaction(prepare)));
    let waits = true;
    let waiting = Promise.resolve();
    await database.transaction(async (sql) => {
      await write(sql);
      waiting = write().then(() => {
        waits = false;
      });
      const reads = await Promise.all(Array.from({ length: 40 }, () => read()));
      expect(reads).toEqual(Array(40).fill([{ id: accountId(1) }]));
      expect(waits).toBe(true);
      return err("roll back");
    });
    await waiting;
  });

  it("rejects updates and deletes of ledger entries", async () => {
    for (const statement of ["update ledger_entry set credits = 1", "delete from ledger_entry"]) {
      await expect(database.sql(statement)).rejects.toThrow("the ledger is append-only");
    }
  });

  it("retries a transaction that PostgreSQL aborts because of a deadlock", async () => {
    await stores.accounts.open(anAccount({ id: accountId(2) }));
    let attempts = 0;
    const bothLocked = barrier(2);
    const lockInOrder = (first: number, second: number) =>
      database.transaction<void, never>(async (sql) => {
        attempts += 1;
        const lock = (n: number) => sql("update account set credits = credits + 1 where id = ?", [accountId(n)]);
        await lock(first);
        await bothLocked();
        await lock(second);
        return ok(undefined);
      });
    await Promise.all([lockInOrder(1, 2), lockInOrder(2, 1)]);
    expect(attempts).toBeGreaterThan(2); // PostgreSQL aborts one of the two or, if both have waited long, each
    expect(await stores.ledger.balance(accountId(2))).toBe(2);
  });

  it("retries a single statement that PostgreSQL aborts because of a deadlock", async () => {
    await stores.accounts.open(anAccount({ id: accountId(2) }));
    let single: Promise<unknown> | undefined;
    await database.transaction<void, never>(async (sql) => {
      await sql("set local deadlock_timeout = '1min'"); // so that the other statement is the one that is aborted
      await sql("update account set credits = credits + 1 where id = ?", [accountId(1)]);
      // Locks the second account, then waits for the first one.
      single = database.sql(
        `with second as (update account set credits = credits + 1 where id = ? returning id)
        update account set credits = credits + 1 where id = ? and exists (select 1 from second)`,
        [accountId(2), accountId(1)],
      );
      while ((await database.sql("select 1 from pg_locks where not granted")).length === 0);
      await sql("update account set credits = credits + 1 where id = ?", [accountId(2)]);
      return ok(undefined);
    });
    await single;
    expect(await stores.ledger.balance(accountId(2))).toBe(2);
  });
});

/** Returns a function whose calls resolve once it has been called `size` times. */
const barrier = (size: number) => {
  let calls = 0;
  let open: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    calls += 1;
    if (calls >= size) open();
    return opened;
  };
};
