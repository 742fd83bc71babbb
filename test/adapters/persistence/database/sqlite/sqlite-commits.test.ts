import { statSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  aQueuedTask,
} from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import type { Database, Sql } from "../../../../../adapters/persistence/database/sql/database.js";
import { openSqliteFile } from "../../../../../adapters/persistence/database/sqlite/open-sqlite-file.js";
import type { SqliteConnection } from "../../../../../adapters/persistence/database/sqlite/sqlite-connection.js";
import { databaseOnConnection } from "../../../../../adapters/persistence/database/sqlite/sqlite-on-connection.js";
import { WriteAheadLog } from "../../../../../adapters/persistence/database/sqlite/write-ahead-log.js";
import { MemoryRateLimits } from "../../../../../adapters/persistence/limits/memory-rate-limits.js";
import { SqliteApiRequests } from "../../../../../adapters/persistence/limits/sqlite-api-requests.js";
import { credits } from "../../../../../domain/credits/credits.js";
import { RATE_LIMITS } from "../../../../../domain/panorama-policy.js";
import { sqliteStores } from "../../../../support/sqlite-stores.js";

/** Six at once, each of which takes 3 ms: the turn of the event loop in which each of them runs, from the first one. */
const turnsOfLongTransactions = async (database: Database, atEach = () => {}): Promise<number[]> => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  let turn = 0;
  let isCounting = true;
  const count = () => {
    turn += 1;
    if (isCounting) globalThis.setImmediate(count);
  };
  globalThis.setImmediate(count);
  const turns: number[] = [];
  const settled: number[] = [];
  const work = Array.from({ length: 6 }, async (_, n) => {
    await database.transaction(async (sql) => {
      await sql("update account set credits = credits + 1");
      turns.push(turn);
      atEach();
      now += 3;
      return ok(undefined);
    });
    settled.push(n);
  });
  await Promise.all(work);
  isCounting = false;
  expect(settled).toEqual([0, 1, 2, 3, 4, 5]);
  return turns.map((one) => one - (turns[0] ?? 0));
};

const CREDITS = 100;
const PAGE_BYTES = 4096;
const MIB = 1024 * 1024;

/** The disk is the only part that stands still or fails. */
describe("a commit on a SQLite file", () => {
  const owner = accountId(1);
  const key = anApiKey();
  let stores: Awaited<ReturnType<typeof sqliteStores>>;
  let other: SqliteConnection;

  const credit = (amount: number) =>
    stores.database.sql("update account set credits = credits + ? where id = ?", [amount, owner]);
  const balance = async () =>
    (await stores.database.sql("select credits from account where id = ?", [owner]))[0]?.credits;
  const balanceOfOthers = () => other.first("select credits from account where id = ?", [owner])?.credits;
  /** The next commit reaches the disk, or does not, when `end` is called. */
  const holdDisk = () => {
    let end = (_failure?: Error) => {};
    const reached = new Promise<void>((resolve, reject) => {
      end = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
    const sync = vi.spyOn(WriteAheadLog.prototype, "sync").mockReturnValueOnce(reached);
    return { end: (failure?: Error) => end(failure), isAsked: () => expect.poll(() => sync.mock.calls.length).toBe(1) };
  };

  beforeEach(async () => {
    stores = await sqliteStores();
    await stores.accounts.open(anAccount(), { order: aPaidOrder({ credits: credits(CREDITS) }) });
    (await stores.keys.insert(key, () => ok(undefined)))._unsafeUnwrap();
    other = openSqliteFile(stores.file);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    other.close();
    await stores.close();
  });

  it("is answered and visible only after the fsync, and blocks no read", async () => {
    const disk = holdDisk();
    let isAnswered = false;
    const credited = credit(5).then(() => {
      isAnswered = true;
    });
    await disk.isAsked();
    for (let turn = 0; turn < 3; turn += 1) {
      expect([isAnswered, await balance(), balanceOfOthers()]).toEqual([false, CREDITS, CREDITS + 5]);
      await setImmediate();
    }
    disk.end();
    await credited;
    expect(await balance()).toBe(CREDITS + 5);
  });

  it("fails if the disk fails, and so does every later one, because the log could lose both together", async () => {
    const disk = holdDisk();
    const refused = { message: "The disk of the SQLite file has failed. Restart the service." };
    const credited = expect(credit(5)).rejects.toMatchObject({ ...refused, cause: { message: "EIO" } });
    await disk.isAsked();
    disk.end(new Error("EIO"));
    await credited;
    await expect(credit(1)).rejects.toMatchObject(refused);
    await expect(stores.database.ping()).rejects.toMatchObject(refused); // `GET /readyz`
    expect(await balance()).toBe(CREDITS + 5);
  });

  it("does not hold up a poll of a queued task", async () => {
    const disk = holdDisk();
    const credited = credit(5);
    await disk.isAsked();
    expect(await stores.tasks.countAhead(aQueuedTask(), 10)).toBe(0);
    disk.end();
    await credited;
  });

  it("lets the event loop go on between its transactions after 5 ms, and waits for the disk once", async () => {
    const sync = vi.spyOn(WriteAheadLog.prototype, "sync");
    const turnsOf = await turnsOfLongTransactions(stores.database);
    expect(turnsOf).toEqual([0, 0, 1, 1, 2, 2]);
    expect(sync).toHaveBeenCalledTimes(1);
  });

  it("ends early on the connection of an embedder, so that nothing else runs in its transaction", async () => {
    const sqlite = new DatabaseSync(stores.file);
    const embedded = databaseOnConnection({ sqlite, tables: ["panoramas"] });
    const open: boolean[] = [];
    const look = () => open.push(sqlite.isTransaction);
    const turnsOf = await turnsOfLongTransactions(embedded, () => globalThis.setImmediate(look));
    await setImmediate(); // the last ones look now
    expect([turnsOf, open]).toEqual([[0, 0, 1, 1, 2, 2], Array(6).fill(false)]);
    sqlite.close();
  });

  it("refuses a statement that comes after the end of its transaction", async () => {
    let late: Sql | undefined;
    await stores.database.transaction(async (sql) => {
      await sql("update account set credits = credits + 1 where id = ?", [owner]);
      late = sql;
      return ok(undefined);
    });
    const refused = "A statement came after the end of its transaction.";
    await expect(late?.("update account set credits = 0 where id = ?", [owner])).rejects.toThrow(refused);
    expect(await balance()).toBe(CREDITS + 1);
  });

  it("lets no read remember a key that another process revokes meanwhile", async () => {
    const clock = new HandClock();
    const requests = new SqliteApiRequests(stores.database, new MemoryRateLimits(clock, RATE_LIMITS), clock);
    const isAdmitted = async () => (await requests.admit(key.secretSha256, "read")).isOk();
    const disk = holdDisk();
    const credited = credit(5);
    await disk.isAsked();
    other.all("update api_key set revoked_at = 1 where id = ?", [key.id]);
    await isAdmitted();
    disk.end();
    await credited;
    expect(await isAdmitted()).toBe(false);
  });

  it("makes reads wait that would miss a concurrent commit of another process", async () => {
    const clock = new HandClock();
    const requests = new SqliteApiRequests(stores.database, new MemoryRateLimits(clock, RATE_LIMITS), clock);
    const disk = holdDisk();
    const credited = credit(5);
    await disk.isAsked();
    const secretSha256 = "b".repeat(64);
    other.all("update api_key set secret_sha256 = ? where id = ?", [secretSha256, key.id]);
    const admitted = requests.admit(secretSha256, "read");
    const found = stores.database.sql("select id from api_key where secret_sha256 = ?", [secretSha256]);
    disk.end();
    await credited;
    expect((await admitted).isOk()).toBe(true);
    expect(await found).toEqual([{ id: key.id }]);
  });

  it("lets the log begin anew while requests read in each turn", async () => {
    let isWriting = true;
    const reading = (async () => {
      for (; isWriting; await setImmediate()) await balance();
    })();
    for (let n = 0; n < 20; n += 1) {
      await stores.database.sql(
        "insert into operator_action (at, operator, command, arguments) values (1, 'a', 'b', ?)",
        ["x".repeat(MIB)],
      );
    }
    isWriting = false;
    await reading;
    expect(statSync(`${stores.file}-wal`).size).toBeLessThan(1_000 * PAGE_BYTES + 2 * MIB);
  });
});
