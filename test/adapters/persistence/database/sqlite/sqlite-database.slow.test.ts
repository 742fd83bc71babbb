import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, inject, it, vi } from "vitest";
import {
  accountId,
  anAccount,
  aPaidOrder,
  aSubmittingTask,
  noon,
  openATask,
  orderId,
  taskId,
} from "../../../../../adapters/contracts/support/builders.js";
import {
  openExistingSqliteDatabase,
  openSqliteDatabase,
} from "../../../../../adapters/persistence/database/sqlite/open-sqlite-database.js";
import { openSqliteFile } from "../../../../../adapters/persistence/database/sqlite/open-sqlite-file.js";
import type { SqliteDatabase } from "../../../../../adapters/persistence/database/sqlite/sqlite-database.js";
import { WriteAheadLog } from "../../../../../adapters/persistence/database/sqlite/write-ahead-log.js";
import { ledger } from "../../../../../application/credits/ledger.js";
import { credits } from "../../../../../domain/credits/credits.js";
import { sqlStores } from "../../../../support/sql-stores.js";

describe("Database on SQLite", () => {
  let folder: string;
  let file: string;
  let database: SqliteDatabase;
  let stores: ReturnType<typeof sqlStores>;

  const reopen = async () => {
    database = await openSqliteDatabase(file);
    stores = sqlStores(database);
  };
  const openAccount = () => stores.accounts.open(anAccount(), { order: aPaidOrder({ credits: credits(100_000) }) });
  const open = (n: number) => {
    const task = aSubmittingTask({ id: taskId(n) });
    return stores.tasks.open({
      account: task.accountId,
      dueAt: noon,
      decide: (standing) => openATask(standing, task, noon),
    });
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "panorama-sqlite-"));
    file = join(folder, "panorama.sqlite");
    await copyFile(join(inject("dataTemplate"), "panorama.sqlite"), file);
    await reopen();
  });
  afterEach(async () => {
    await database.close();
    await rm(folder, { recursive: true });
  });

  it("leaves one complete file when it is closed", async () => {
    await openAccount();
    await database.close();
    const copy = join(folder, "copy.sqlite");
    await copyFile(file, copy);
    await reopen();
    const copied = await openExistingSqliteDatabase(copy);
    expect(await copied.sql("select id from account")).toEqual([{ id: accountId(1) }]);
    await copied.close();
  });

  it("names the file that cannot be opened", async () => {
    const damaged = join(folder, "damaged.sqlite");
    await writeFile(damaged, "not a database ".repeat(100));
    await expect(openSqliteDatabase(damaged)).rejects.toThrow(
      `Cannot open the database ${damaged}: file is not a database`,
    );
  });

  it("refuses to open after an incompatible later migration", async () => {
    const record = (name: string) => database.sql("insert into schema_migration (name) values (?)", [name]);
    await record("998-index-compatible");
    await (await openExistingSqliteDatabase(file)).close();
    await record("999-later");
    for (const open of [openSqliteDatabase, openExistingSqliteDatabase]) {
      await expect(open(file)).rejects.toMatchObject({
        kind: "configuration",
        message:
          `The database ${file} is ahead of this version: a later one has run the migration 999-later. Start the later ` +
          "version, or restore a backup from before it. Instances of this version that run already may go on until they " +
          "are replaced.",
      });
    }
  });

  it("refuses to open a database from before 3.0.0", async () => {
    await database.sql("update schema_migration set name = '001-tables'");
    for (const open of [openSqliteDatabase, openExistingSqliteDatabase]) {
      await expect(open(file)).rejects.toThrow(
        `The database ${file} was made by a version before 3.0.0, which this version cannot migrate.`,
      );
    }
  });

  describe("group commit", () => {
    const credit = (account: number, amount: number) =>
      database.sql("update account set credits = credits + ? where id = ?", [amount, accountId(account)]);
    const balance = async () =>
      Number((await database.sql("select credits from account where id = ?", [accountId(1)]))[0]?.credits);

    beforeEach(openAccount);

    it("rolls back only the transactions that failed, and commits the others of the group", async () => {
      const before = await balance();
      const bug = new Error("a bug");
      const outcomes = await Promise.allSettled([
        credit(1, 1),
        database.transaction(async (sql) => {
          await sql("update account set credits = credits + 10 where id = ?", [accountId(1)]);
          return err("refused");
        }),
        database.transaction(async (sql) => {
          await sql("update account set credits = credits + 100 where id = ?", [accountId(1)]);
          throw bug;
        }),
        database.sql("update account set credits = -1"),
        credit(1, 1_000),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual([
        "fulfilled",
        "fulfilled",
        "rejected",
        "rejected",
        "fulfilled",
      ]);
      expect(outcomes[1]).toEqual({ status: "fulfilled", value: err("refused") });
      expect(outcomes[2]).toEqual({ status: "rejected", reason: bug });
      expect(await balance()).toBe(before + 1_001);
    });

    it("reports overload if a write would wait for more than 50 ms, never for reads", async () => {
      let now = performance.now();
      vi.spyOn(performance, "now").mockImplementation(() => now);
      vi.spyOn(WriteAheadLog.prototype, "sync").mockImplementation(async () => {
        now += 120; // of each group
      });
      const write = (count: number) => Promise.all(Array.from({ length: count }, () => credit(1, 1)));
      await write(6 * 128); // the times of the last four groups count
      const waiting = write(64);
      expect(database.isOverloaded("write")).toBe(false); // so many may always wait
      const more = write(1);
      expect([database.isOverloaded("write"), database.isOverloaded("read")]).toEqual([true, false]);
      await Promise.all([waiting, more]);
      expect(database.isOverloaded("write")).toBe(false);
      vi.restoreAllMocks();
    });

    it("shows other reads nothing before the commit", async () => {
      const before = await balance();
      const seen: number[] = [];
      await database.transaction<void, never>(async (sql) => {
        await sql("update account set credits = credits + 1 where id = ?", [accountId(1)]);
        seen.push(await balance());
        return ok(undefined);
      });
      expect([...seen, await balance()]).toEqual([before, before + 1]);
    });

    it("shows requests the commits of another process after a background read in the same turn", async () => {
      const credits = "select credits from account where id = ?";
      await setImmediate();
      const before = await balance(); // as a timer would read
      const other = openSqliteFile(file);
      other.execute("update account set credits = credits + 7");
      expect(database.first(credits, [accountId(1)])).toEqual({ credits: before + 7 });
      other.close();
    });

    it("waits for the lock of another process without blocking reads, and then commits", async () => {
      const before = await balance();
      const other = openSqliteFile(file);
      other.execute("begin immediate");
      const credited = credit(1, 5);
      for (let turn = 0; turn < 5; turn += 1) {
        await setTimeout(5); // the event loop is free, and the write still waits
        expect(await balance()).toBe(before);
      }
      other.execute("rollback");
      other.close();
      await credited;
      expect(await balance()).toBe(before + 5);
    });
  });

  describe("ledger tables", () => {
    beforeEach(async () => {
      await openAccount();
      await open(1);
    });

    it.each([
      ["updated", "update ledger_entry set credits = 1"],
      ["deleted", "delete from ledger_entry"],
    ])("reject that an entry is %s", async (_, statement) => {
      await expect(database.sql(statement)).rejects.toThrow("the ledger is append-only");
    });

    it.each([
      ["two reservations of one task", "select account_id, kind, credits, task_id, order_id, at from ledger_entry"],
      ["a balance below zero", undefined],
    ])("reject %s", async (_, again) => {
      const statement = again
        ? `insert into ledger_entry (account_id, kind, credits, task_id, order_id, at) ${again}`
        : "update account set credits = -1";
      await expect(database.sql(statement)).rejects.toThrow(/constraint failed/i);
    });

    it("reject the deletion of an account that has entries", async () => {
      await expect(database.sql("delete from account")).rejects.toThrow(/constraint failed/i);
    });
  });

  it("names a column that the task's state requires but that is null", async () => {
    await openAccount();
    await open(1);
    await database.sql("update task set state = 'submitted'");
    await expect(stores.tasks.find(taskId(1), accountId(1))).rejects.toThrow("column submitted_at cannot be null");
  });

  it("creates one database for processes that start concurrently in an empty folder", async () => {
    const fresh = join(folder, "not", "there", "yet", "panorama.sqlite");
    const started = await Promise.all([1, 2, 3].map((n) => payingProcess(fresh, n, 1)));
    expect(started).toEqual(Array(3).fill({ code: 0, output: "" }));
    const created = await openSqliteDatabase(fresh);
    expect(await ledger(sqlStores(created)).verifyLedger()).toEqual({ accounts: 3, findings: [] });
    await created.close();
  });

  it("rolls back the whole transaction when a later statement fails", async () => {
    await openAccount();
    const order = aPaidOrder({ id: orderId(2) });
    await stores.orders.insert({ ...order, state: "pending" });
    await database.sql("create trigger no_more before insert on ledger_entry begin select raise(abort, 'full'); end");
    await expect(stores.orders.pay(order)).rejects.toThrow("full");
    await expect(open(1)).rejects.toThrow("full");
    expect((await stores.orders.find(order.id))?.state).toBe("pending");
    expect(await stores.ledger.balance(accountId(1))).toBe(100_000);
    expect(await stores.tasks.list(accountId(1), 9, undefined)).toEqual([]);
  });
});

const payingProcess = async (file: string, account: number, orders: number) => {
  const script = fileURLToPath(new URL("../../../../support/paying-process.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, file, String(account), String(orders)]);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += data.toString()));
  const [code] = await once(child, "close");
  return { code, output };
};
