import { setImmediate } from "node:timers/promises";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  aSubmittingTask,
  noon,
  openATask,
} from "../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import { SqlApiKeyStore } from "../../../../adapters/persistence/accounts/sql-api-key-store.js";
import { openSqliteDatabase } from "../../../../adapters/persistence/database/sqlite/open-sqlite-database.js";
import type { SqliteDatabase } from "../../../../adapters/persistence/database/sqlite/sqlite-database.js";
import { MemoryRateLimits } from "../../../../adapters/persistence/limits/memory-rate-limits.js";
import { SqliteApiRequests } from "../../../../adapters/persistence/limits/sqlite-api-requests.js";
import { sqlTasks } from "../../../../adapters/persistence/tasks/sql-tasks.js";
import { RATE_LIMITS } from "../../../../domain/panorama-policy.js";
import { sqliteStores } from "../../../support/sqlite-stores.js";

/** Another connection to the file stands for another process: SQLite tells both apart from the reader alike. */
describe("SqliteApiRequests, after a request with the same key and task", () => {
  const owner = accountId(1);
  const key = anApiKey();
  const task = aSubmittingTask({ accountId: owner });
  let stores: Awaited<ReturnType<typeof sqliteStores>>;
  let other: SqliteDatabase;
  let requests: SqliteApiRequests;

  beforeEach(async () => {
    stores = await sqliteStores();
    other = await openSqliteDatabase(stores.file);
    await stores.accounts.open(anAccount(), { order: aPaidOrder() });
    (await stores.keys.insert(key, () => ok(undefined)))._unsafeUnwrap();
    await stores.tasks.open({ account: owner, dueAt: noon, decide: (standing) => openATask(standing, task, noon) });
    const clock = new HandClock();
    requests = new SqliteApiRequests(stores.database, new MemoryRateLimits(clock, RATE_LIMITS), clock);
  });
  afterEach(async () => {
    await other.close();
    await stores.close();
  });

  const read = async () => (await requests.admit(key.secretSha256, "read", task.id)).map((admitted) => admitted.task);

  /** A commit of another process is seen from the next turn of the event loop on. */
  const WRITERS = [
    ["this process", () => stores.database],
    ["another process", () => other],
  ] as const;

  it.each(WRITERS)("refuses the key that %s has revoked", async (_, database) => {
    expect((await read())._unsafeUnwrap()?.id).toBe(task.id);
    (await new SqlApiKeyStore(database()).revoke(key.id, noon))._unsafeUnwrap();
    await setImmediate();
    expect((await read())._unsafeUnwrapErr()).toEqual({ kind: "invalid_api_key" });
  });

  it.each(WRITERS)("refuses the account that %s has suspended", async (_, database) => {
    expect((await read()).isOk()).toBe(true);
    await database().sql("update account set suspension_reason = 'spam' where id = ?", [owner]);
    await setImmediate();
    expect((await read())._unsafeUnwrapErr()).toEqual({ kind: "account_suspended", reason: "spam" });
  });

  it.each(WRITERS)("shows the task as %s has changed it", async (_, database) => {
    expect((await read())._unsafeUnwrap()?.request.visibility).toBe("private");
    (await sqlTasks(database()).setVisibility(task.id, owner, "public"))._unsafeUnwrap();
    await setImmediate();
    expect((await read())._unsafeUnwrap()?.request.visibility).toBe("public");
    (await sqlTasks(database()).delete(task.id, owner, noon))._unsafeUnwrap();
    await setImmediate();
    expect((await read())._unsafeUnwrap()).toBeUndefined();
  });

  it("shows nothing of a transaction that is rolled back", async () => {
    const seen: unknown[] = [];
    await stores.database.transaction(async (sql) => {
      await sql("update task set visibility = 'public', seed = 7 where id = ?", [task.id]);
      seen.push((await read())._unsafeUnwrap()?.request.visibility);
      return err("undone");
    });
    expect([...seen, (await read())._unsafeUnwrap()?.request.visibility]).toEqual(["private", "private"]);
  });
});
