import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { err, ok } from "neverthrow";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  apiKeyId,
  aReservedTask,
  noon,
  openATask,
  taskId,
} from "../../../../../adapters/contracts/support/builders.js";
import { HandClock } from "../../../../../adapters/memory/hand-clock.js";
import { MemoryRateLimits } from "../../../../../adapters/memory/stores/memory-rate-limits.js";
import type { Database, SynchronousReads } from "../../../../../adapters/persistence/sql/database.js";
import { openSqliteDatabase } from "../../../../../adapters/persistence/sqlite/open-sqlite-database.js";
import type { SqliteDatabase } from "../../../../../adapters/persistence/sqlite/sqlite-database.js";
import { SqlApiKeyStore } from "../../../../../adapters/persistence/stores/accounts/sql-api-key-store.js";
import { SqliteApiRequests } from "../../../../../adapters/persistence/stores/accounts/sqlite-api-requests.js";
import { sqlTasks } from "../../../../../adapters/persistence/tasks/sql-tasks.js";
import { NO_LIMITS } from "../../../../../domain/accounts/key-limits.js";
import { RATE_LIMITS } from "../../../../../domain/panorama-policy.js";
import { sqliteStores } from "../../../../support/sqlite-stores.js";

/** Another connection to the file stands for another process: SQLite tells both apart from the reader alike. */
describe("what SqliteApiRequests remembers", () => {
  const owner = accountId(1);
  const key = anApiKey();
  const task = aReservedTask({ accountId: owner });
  let stores: Awaited<ReturnType<typeof sqliteStores>>;
  let other: SqliteDatabase;
  let reads: number;
  let comparisons: number;
  let requests: SqliteApiRequests;
  let clock: HandClock;

  beforeEach(async () => {
    stores = await sqliteStores();
    other = await openSqliteDatabase(stores.file);
    await stores.accounts.open(anAccount(), { order: aPaidOrder() });
    (await stores.keys.insert(key, () => ok(undefined)))._unsafeUnwrap();
    await stores.tasks.open({ account: owner, dueAt: noon, decide: (standing) => openATask(standing, task, noon) });
    reads = 0;
    comparisons = 0;
    const counting: SynchronousReads = {
      dialect: "sqlite",
      onChange: (watched, forget) => stores.database.onChange(watched, forget),
      versionOfOthers: () => {
        comparisons += 1;
        return stores.database.versionOfOthers();
      },
      first: (select: string, parameters: readonly unknown[]) => {
        reads += 1;
        return stores.database.first(select, parameters);
      },
    };
    clock = new HandClock();
    requests = new SqliteApiRequests(counting, new MemoryRateLimits(clock, RATE_LIMITS), clock);
  });
  afterEach(async () => {
    await other.close();
    await stores.close();
  });

  const read = async () => (await requests.admit(key.secretSha256, "read", task.id)).map((admitted) => admitted.task);

  it("saves the read of the same key and task, and still counts each request", async () => {
    const first = (await requests.admit(key.secretSha256, "read", task.id))._unsafeUnwrap();
    const second = (await requests.admit(key.secretSha256, "read", task.id))._unsafeUnwrap();
    expect(second.task).toBe(first.task);
    expect([first.admission.remaining, second.admission.remaining]).toEqual([59, 58]);
    expect(reads).toBe(1);
  });

  it("is compared with the database once for the requests of one turn of the event loop", async () => {
    await read();
    await read();
    expect(comparisons).toBe(1);
    await setImmediate();
    await read();
    expect(comparisons).toBe(2);
  });

  it("is the key for each task, and neither an unknown key nor a missing task", async () => {
    await read();
    expect((await requests.admit(key.secretSha256, "read"))._unsafeUnwrap().task).toBeUndefined();
    expect(reads).toBe(1);
    expect((await requests.admit("f".repeat(64), "read")).isErr()).toBe(true);
    expect((await requests.admit("f".repeat(64), "read")).isErr()).toBe(true);
    expect(reads).toBe(3);
    expect((await requests.admit(key.secretSha256, "read", taskId(9)))._unsafeUnwrap().task).toBeUndefined();
    expect((await requests.admit(key.secretSha256, "read", taskId(9)))._unsafeUnwrap().task).toBeUndefined();
    expect(reads).toBe(5);
  });

  it("is no task of another account", async () => {
    await read();
    await stores.accounts.open(anAccount({ id: accountId(2) }));
    const others = anApiKey({ id: apiKeyId(2), accountId: accountId(2) });
    (await stores.keys.insert(others, () => ok(undefined)))._unsafeUnwrap();
    expect((await requests.admit(others.secretSha256, "read"))._unsafeUnwrap().task).toBeUndefined();
    expect((await requests.admit(others.secretSha256, "read", task.id))._unsafeUnwrap().task).toBeUndefined();
  });

  it("stays when this process writes other rows, or leases the task", async () => {
    await read();
    await setImmediate();
    await stores.keys.recordUses(new Map([[key.id, noon]]));
    expect(await stores.tasks.claim("sweep", noon, new Date(noon.getTime() + 60_000), 1)).toHaveLength(1);
    expect((await read())._unsafeUnwrap()).toEqual(task);
    expect(reads).toBe(1);
  });

  it.each([
    ["this process", () => stores.database],
    ["another process", () => other],
  ])("is forgotten when %s revokes the key", async (_, database) => {
    expect((await read())._unsafeUnwrap()).toEqual(task);
    (await new SqlApiKeyStore(database()).revoke(key.id, noon))._unsafeUnwrap();
    expect((await read())._unsafeUnwrapErr()).toEqual({ kind: "invalid_api_key" });
  });

  it.each([
    ["this process", () => stores.database],
    ["another process", () => other],
  ])("is forgotten when %s changes the task", async (_, database) => {
    expect((await read())._unsafeUnwrap()?.request.visibility).toBe("private");
    (await sqlTasks(database()).setVisibility(task.id, owner, "public"))._unsafeUnwrap();
    expect((await read())._unsafeUnwrap()?.request.visibility).toBe("public");
    (await sqlTasks(database()).hide(task.id, owner, noon))._unsafeUnwrap();
    expect((await read())._unsafeUnwrap()).toBeUndefined();
  });

  it("does not outlive the expiry of the key, although nobody commits", async () => {
    const expiresAt = new Date(clock.now().getTime() + 2_000);
    const brief = anApiKey({ id: apiKeyId(2), limits: { ...NO_LIMITS, expiresAt } });
    (await stores.keys.insert(brief, () => ok(undefined)))._unsafeUnwrap();
    const admit = () => requests.admit(brief.secretSha256, "read", task.id);
    expect((await admit()).isOk()).toBe(true);
    await clock.advance(1_999);
    expect((await admit()).isOk()).toBe(true);
    await clock.advance(1);
    expect((await admit())._unsafeUnwrapErr()).toEqual({ kind: "api_key_expired", expiredAt: expiresAt });
    expect(reads).toBe(1);
  });

  it("does not lend the scopes of one kind of request to the other", async () => {
    const reader = anApiKey({ id: apiKeyId(2), limits: { ...NO_LIMITS, scopes: ["read"] } });
    (await stores.keys.insert(reader, () => ok(undefined)))._unsafeUnwrap();
    expect((await requests.admit(reader.secretSha256, "read")).isOk()).toBe(true);
    expect((await requests.admit(reader.secretSha256, "write"))._unsafeUnwrapErr().kind).toBe("missing_scope");
    expect(reads).toBe(1);
  });

  it.each([
    [
      "account",
      [
        ...["id", "email", "password_hash", "credits", "active_tasks", "last_turn", "low_balance_threshold"],
        ...["last_event", "debt", "open_disputes", "granted", "failure_day", "failures", "failure_bytes"],
        ...["created_at", "closed_at", "erased_at", "suspended_at"],
      ],
    ],
    ["api_key", ["name", "prefix", "created_at", "last_used_at"]],
    [
      "task",
      [
        ...["traceparent", "due_at", "leased_until", "fence", "in_search", "texts_erased_at"],
        ...["cancel_wanted_at", "cancel_refused_at", "result_figures", "failure_detail", "deleted_by"],
        ...["started_at", "generated_at", "saved_at", "expired_at", "withheld_at", "withheld_by"],
        ...["featured_at", "approved_at", "start_view", "next_image_name", "kept_until", "has_tiles"],
        "hotspots",
        ...["review_since", "visibility_after_review"],
        ...["cost_micros", "cost_currency"],
      ],
    ],
  ])("stays only when a column of %s changes that no request reads", async (table, unread) => {
    const found = await stores.database.sql("select name from pragma_table_info(?)", [table]);
    const stays: unknown[] = [];
    for (const { name } of found) {
      await clock.advance(2_000); // within the rate limit
      await read();
      const before = reads;
      await stores.database.sql(`update ${table} set ${String(name)} = ${String(name)}`);
      await read();
      if (reads === before) stays.push(name);
    }
    expect(stays.toSorted()).toEqual(unread.toSorted());
  });

  it("is no task with long texts", async () => {
    await stores.database.sql("update task set prompt = ?", ["a".repeat(4_000)]);
    expect((await read())._unsafeUnwrap()?.request.prompt).toHaveLength(4_000);
    await read();
    expect(reads).toBe(2);
  });

  it("is forgotten also if it was made in a transaction that is rolled back", async () => {
    await other.transaction(async (sql) => {
      await sql("update account set credits = credits");
      requests = new SqliteApiRequests(other, new MemoryRateLimits(clock, RATE_LIMITS), clock);
      await read();
      return err("undone");
    });
    await setImmediate();
    expect((await read()).isOk()).toBe(true);
    (await new SqlApiKeyStore(other).revoke(key.id, noon))._unsafeUnwrap();
    expect((await read())._unsafeUnwrapErr()).toEqual({ kind: "invalid_api_key" });
  });

  it("is what the database holds, whoever changes keys and tasks", async () => {
    const changes: Readonly<Record<string, (database: Database) => Promise<unknown>>> = {
      publish: (database) => sqlTasks(database).setVisibility(task.id, owner, "public"),
      unpublish: (database) => sqlTasks(database).setVisibility(task.id, owner, "private"),
      hide: (database) => sqlTasks(database).hide(task.id, owner, noon),
      revoke: (database) => new SqlApiKeyStore(database).revoke(key.id, noon),
      limit: (database) => database.sql("update api_key set scopes = 'create' where id = ?", [key.id]),
      restore: (database) => database.sql("update task set hidden_at = null where id = ?", [task.id]),
      allow: (database) => database.sql("update api_key set revoked_at = null, scopes = 'read,create'"),
      undo: async (database) => {
        await database.transaction(async (sql) => {
          await sql("update task set visibility = 'public', seed = 7 where id = ?", [task.id]);
          return err("undone");
        });
      },
    };
    const step = fc.record({ change: fc.constantFrom(...Object.keys(changes)), byOther: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        for (const { change, byOther } of steps) {
          await changes[change]?.(byOther ? other : stores.database);
          if (byOther) await setImmediate(); // its commit is seen from the next turn of the event loop on
          const unlimited = new MemoryRateLimits(clock, { ...RATE_LIMITS, read: { limit: 1e9, windowSeconds: 60 } });
          const fresh = new SqliteApiRequests(stores.database, unlimited, clock);
          const expected = (await fresh.admit(key.secretSha256, "read", task.id)).map((found) => found.task);
          await clock.advance(2_000);
          expect(await read()).toEqual(expected);
        }
      }),
      { numRuns: 30 },
    );
  });
});
