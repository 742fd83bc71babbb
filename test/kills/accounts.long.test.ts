import { fork } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { openPostgresDatabase } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import { openStressedAccounts, type Stress, stress, stressFindings } from "../support/account-stress.js";
import { freshDatabase } from "../support/postgres.js";
import { sqliteStores } from "../support/sqlite-stores.js";

const MILLISECONDS = 60_000;

it("keeps every account exact under eight lanes on SQLite", async () => {
  const { database, close } = await sqliteStores();
  onTestFinished(close);
  await openStressedAccounts(database);
  const run = await stress(database, 8, MILLISECONDS);
  expect(await stressFindings(database, [run])).toEqual([]);
});

it("keeps every account exact under two processes on PostgreSQL", async () => {
  const url = await freshDatabase();
  const database = await openPostgresDatabase(url, 4);
  onTestFinished(() => database.close());
  await openStressedAccounts(database);
  const file = new URL("../support/account-stress-process.ts", import.meta.url);
  const run = async (): Promise<Stress> => {
    const child = fork(file, [url, String(MILLISECONDS)], { execArgv: ["--import", "tsx"] });
    const told = once(child, "message");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
    return (await told)[0];
  };
  expect(await stressFindings(database, await Promise.all([run(), run()]))).toEqual([]);
});
