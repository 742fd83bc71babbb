import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { ok } from "neverthrow";
import { expect, it } from "vitest";
import { accountId, anAccount, anApiKey, apiKeyId } from "../../../../../adapters/contracts/support/builders.js";
import { migratePostgresDatabase } from "../../../../../adapters/persistence/database/postgres/migrate-postgres.js";
import { openPostgresDatabase } from "../../../../../adapters/persistence/database/postgres/open-postgres-database.js";
import { migrationSteps } from "../../../../../adapters/persistence/database/schema/migration-steps.js";
import type { AnyDatabase } from "../../../../../adapters/persistence/database/sql/database.js";
import { openSqliteDatabase } from "../../../../../adapters/persistence/database/sqlite/open-sqlite-database.js";
import { migrateSqlite } from "../../../../../adapters/persistence/database/sqlite/open-sqlite-file.js";
import { sqlStores } from "../../../../../adapters/persistence/sql-stores.js";
import { ledger } from "../../../../../application/credits/ledger.js";
import type { Email } from "../../../../../domain/accounts/account.js";
import { member, seedMember, YOUNG } from "../../../../bench/growth/seed.js";
import { freshDatabase } from "../../../../support/postgres.js";
import { TABLE_COLUMNS } from "../../../../support/table-columns.js";

/** A later version writes a note beside each account, and finds accounts by it. */
const statements = [
  "alter table account add column note varchar(200) null",
  "create index account_note_index on account (note) where note is not null",
];
const second = { name: "002-notes-compatible", up: { sqlite: statements, postgresql: statements } };
const SECOND = [...migrationSteps, second];

const now = new Date();
const MEMBERS = ["One", "Two", "Three"].map((name) => member(name, YOUNG, now));

const fill = async (database: AnyDatabase): Promise<void> => {
  const run = async (statement: string) => void (await database.sql(statement));
  for (const one of MEMBERS) await seedMember(run, database.dialect, one, YOUNG, now);
};

const rowsIn = async ({ sql }: AnyDatabase): Promise<Record<string, unknown>> => {
  const counts: Record<string, unknown> = {};
  for (const table of TABLE_COLUMNS.keys()) {
    const [row] = await sql(`select cast(count(*) as integer) as n from ${table}`);
    counts[table] = row?.n;
  }
  return counts;
};

/** What an instance of the version before does with prepared statements and with entities. */
const work = async (database: AnyDatabase, n: number): Promise<void> => {
  const stores = sqlStores(database);
  const account = anAccount({ id: accountId(n), email: `person-${n}@example.com` as Email });
  (await stores.accounts.open(account))._unsafeUnwrap();
  const key = anApiKey({ id: apiKeyId(n), accountId: account.id, secretSha256: `${n}`.padStart(64, "0") });
  (await stores.keys.insert(key, () => ok(undefined)))._unsafeUnwrap();
  expect(await stores.accounts.find(account.id)).toEqual(account);
  expect(await stores.keys.list(account.id)).toHaveLength(1);
  expect((await stores.operators.accounts(1, undefined)).length).toBe(1);
  for (const { id } of MEMBERS) {
    expect((await stores.tasks.list(id, 5, undefined)).length).toBe(5);
    expect((await stores.ledger.list(id, 5, undefined)).length).toBe(5);
  }
};

it("a second step loses nothing on PostgreSQL, while the version before works on", async () => {
  const url = await freshDatabase();
  const before = await openPostgresDatabase(url, 4);
  await fill(before);
  const counted = await rowsIn(before);
  let isOver = false;
  let worked = 0;
  const working = (async () => {
    while (!isOver) {
      worked += 1;
      await work(before, worked);
      await turn();
    }
  })();
  while (worked < 2) await turn();
  await migratePostgresDatabase(url, SECOND);
  const until = worked + 3;
  while (worked < until) await turn();
  isOver = true;
  await working;

  const expected = { ...counted, account: Number(counted.account) + worked, api_key: Number(counted.api_key) + worked };
  expect(await rowsIn(before)).toEqual(expected);
  const after = await openPostgresDatabase(url, 4); // both versions serve
  await after.sql("update account set note = ? where id = ?", ["of the later version", accountId(1)]);
  await sqlStores(before).accounts.setLowBalance(accountId(1), undefined);
  expect(await after.sql("select note from account where id = ?", [accountId(1)])).toEqual([
    { note: "of the later version" },
  ]);
  expect((await ledger(sqlStores(after)).verifyLedger()).findings).toEqual([]);
  await after.close();

  // Of a step that the version before cannot work with, it says so at its next start.
  const third = { name: "003-no-notes", up: { sqlite: [], postgresql: ["alter table account drop column note"] } };
  await migratePostgresDatabase(url, [...SECOND, third]);
  await work(before, worked + 1);
  await expect(openPostgresDatabase(url, 4)).rejects.toThrow("a later one has run the migration 003-no-notes");
  await before.close();
});

it("a second step loses nothing on SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "panorama-second-step-"));
  const file = join(folder, "panorama.sqlite");
  const before = await openSqliteDatabase(file);
  await fill(before);
  await work(before, 1);
  const counted = await rowsIn(before);
  await migrateSqlite(file, SECOND);
  expect(await rowsIn(before)).toEqual(counted);
  await work(before, 2);
  await before.close();
  const after = await openSqliteDatabase(file);
  await work(after, 3);
  expect(await after.sql("select note from account where id = ?", [accountId(2)])).toEqual([{ note: null }]);
  expect((await ledger(sqlStores(after)).verifyLedger()).findings).toEqual([]);
  await after.close();
  await rm(folder, { recursive: true });
});
