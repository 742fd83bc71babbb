import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { memoryPorts } from "../../../adapters/memory/memory-ports.js";
import { openPostgresDatabase } from "../../../adapters/persistence/postgres/open-postgres-database.js";
import { sqlTasks } from "../../../adapters/persistence/prepared/tasks/sql-tasks.js";
import { type DatabaseClock, openDatabaseClock } from "../../../adapters/persistence/sql/database-clock.js";
import { openSqliteDatabase } from "../../../adapters/persistence/sqlite/open-sqlite-database.js";
import { MemoryRateLimits } from "../../../adapters/persistence/stores/memory-rate-limits.js";
import { NodeSecrets } from "../../../adapters/system/node-secrets.js";
import { RandomIds } from "../../../adapters/system/random-ids.js";
import { MACHINE_TIME } from "../../../adapters/system/steady-clock.js";
import { SystemClock } from "../../../adapters/system/system-clock.js";
import { type Application, createApplication } from "../../../application/create-application.js";
import { verifyLedger } from "../../../application/credits/ledger.js";
import type { ApiRequests } from "../../../application/ports/stores/rate-limits.js";
import { StoreBusy } from "../../../application/ports/stores/store-errors.js";
import type { ApiKey, ApiKeySecret } from "../../../domain/accounts/api-key.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import { credits } from "../../../domain/credits/credits.js";
import { RATE_LIMITS } from "../../../domain/panorama-policy.js";
import type { Task } from "../../../domain/tasks/task.js";
import { accountsWithKeys } from "../../support/accounts-with-keys.js";
import { freshDatabase } from "../../support/postgres.js";
import { type AnyDatabase, sqlStores } from "../../support/sql-stores.js";
import { sqliteStores } from "../../support/sqlite-stores.js";

const MINUTES = 60_000;
const CREDITS = 100;
const PRICE = 4;
const ACTIVE_MAX = 5;
const BUDGET = ACTIVE_MAX * PRICE;
const WITHIN_MILLISECONDS = 60_000;

const secrets = new NodeSecrets();

type Instance = {
  readonly application: Application;
  readonly database: AnyDatabase;
  readonly clock: DatabaseClock;
  readonly requests: ApiRequests;
};

type Customer = { readonly key: ApiKey; readonly secret: ApiKeySecret };

/** How much a wall clock is ahead, by the time since its process was started. */
type WallAhead = (milliseconds: number) => number;

const right: WallAhead = () => 0;
const setAgainAndAgain: WallAhead = (milliseconds) => (Math.floor(milliseconds / 250) % 2) * 20 * MINUTES;

const onPostgres = async () => {
  const url = await freshDatabase();
  return { open: () => openPostgresDatabase(url, 4), remove: async () => {} };
};

const onSqlite = async () => {
  const { file, close } = await sqliteStores();
  return { open: () => openSqliteDatabase(file), remove: close };
};

type Case = readonly [string, () => Promise<{ open(): Promise<AnyDatabase>; remove(): Promise<void> }>, WallAhead[]];

const CASES: readonly Case[] = [
  ["two on PostgreSQL, one wall clock ten minutes ahead", onPostgres, [() => 10 * MINUTES, right]],
  ["two on PostgreSQL, one wall clock ten minutes behind", onPostgres, [() => -10 * MINUTES, right]],
  ["two on PostgreSQL, one wall clock set forth and back by 20 minutes", onPostgres, [setAgainAndAgain, right]],
  ["one on SQLite, its wall clock set forth and back by 20 minutes", onSqlite, [setAgainAndAgain]],
];

describe.concurrent.each(CASES)("applications with wrong clocks: %s", (_, onDatabase, wallClocks) => {
  let opener: Awaited<ReturnType<typeof onDatabase>>;
  let outside: ReturnType<typeof anOutside>;
  let instances: readonly Instance[];
  /** Writes of somebody who had no valid lease. */
  let refused: number[];
  let customers: readonly Customer[];

  const anOutside = () => {
    const { provider, storage } = memoryPorts(new SystemClock());
    provider.nextPollMilliseconds = () => 300;
    return { provider, storage };
  };

  const open = async (wallAhead: WallAhead): Promise<Instance> => {
    const database = await opener.open();
    const startedAt = performance.now();
    const wall = () => Date.now() + wallAhead(performance.now() - startedAt);
    const clock = await openDatabaseClock(database, { machine: { ...MACHINE_TIME, wall } });
    const { countersAt, ...stores } = sqlStores(database, { clock });
    const requests = countersAt(clock, RATE_LIMITS).apiRequests;
    const observer = { opened() {}, started() {}, moved() {}, claimed() {}, stale: () => refused.push(1) };
    const ports = {
      ...memoryPorts(clock),
      ...stores,
      apiRequests: requests,
      rateLimits: new MemoryRateLimits(clock, RATE_LIMITS),
      ...outside,
      tasks: sqlTasks(database, { observer, clock }),
      ids: new RandomIds(clock),
      secrets,
    };
    const settings = { leaseMilliseconds: 2_000, generationDeadlineMilliseconds: 2 * MINUTES };
    const application = createApplication({ ports, settings });
    await application.start();
    return { application, database, clock, requests };
  };

  beforeAll(async () => {
    opener = await onDatabase();
  });
  afterAll(() => opener.remove());
  beforeEach(async () => {
    refused = [];
    outside = anOutside();
    outside.provider.play({ poll: "running" });
    instances = await Promise.all(wallClocks.map(open));
  });
  afterEach(async () => {
    for (const { application, clock, database } of instances) {
      await application.stop();
      clock.close();
      await database.close();
    }
  });

  const instance = (n: number): Instance => instances[n % instances.length] as Instance;

  const openCustomers = async (count: number): Promise<void> => {
    const limits = { ...NO_LIMITS, creditsPerDay: credits(BUDGET) };
    const accounts = await accountsWithKeys(instance(0).database, count, CREDITS, 1, limits);
    customers = accounts.flatMap(({ keys }) => keys);
  };

  const create = async ({ secret }: Customer, n: number): Promise<Task | string> => {
    const { application, requests } = instance(n);
    const admitted = await requests.admit(secrets.sha256(secret), "write");
    if (admitted.isErr()) return admitted.error.kind;
    const { accountId, key: apiKey } = admitted.value;
    const attempt = async (): ReturnType<typeof application.panoramas.create> => {
      try {
        return await application.panoramas.create(accountId, aCreationRequest(), undefined, { apiKey });
      } catch (error) {
        if (!(error instanceof StoreBusy)) throw error;
        return attempt(); // on a busy machine, writes of one account wait too long for each other
      }
    };
    return (await attempt()).match(
      ({ task }) => task,
      ({ kind }) => kind,
    );
  };

  /** As many as each account may have. */
  const createAll = async (): Promise<Task[]> => {
    const all = customers.flatMap((customer) => Array.from({ length: ACTIVE_MAX }, (_, n) => create(customer, n)));
    return (await Promise.all(all)).map((created) => {
      if (typeof created === "string") throw new Error(`A creation was refused: ${created}`);
      return created;
    });
  };

  const ended = async (tasks: readonly Task[]): Promise<string[]> => {
    const { application } = instance(1);
    const signal = AbortSignal.timeout(WITHIN_MILLISECONDS);
    const all = tasks.map(async ({ id, accountId }) =>
      application.panoramas.waitFor(id, accountId, WITHIN_MILLISECONDS, signal),
    );
    return (await Promise.all(all)).map((end) => {
      const task = end._unsafeUnwrap();
      return task.state === "failed" ? task.reason : task.state;
    });
  };

  const expectExactLedger = async (spent: number): Promise<void> => {
    const { ledger } = sqlStores(instance(0).database);
    for (const { key } of customers) expect(await ledger.balance(key.accountId)).toBe(CREDITS - spent);
    expect((await verifyLedger({ ledger })()).findings).toEqual([]);
  };

  it.sequential("makes all of 80 paid tasks, each once, and takes no lease from a worker", async () => {
    await openCustomers(16);
    const tasks = await createAll();
    await setTimeout(3_000); // more than a lease
    outside.provider.play({ poll: "succeeded" });
    expect(await ended(tasks)).toEqual(tasks.map(() => "succeeded"));
    for (const { id } of tasks) expect(outside.provider.startedFor(id)).toBe(1);
    expect(refused).toEqual([]);
    await expectExactLedger(ACTIVE_MAX * PRICE);
  });

  it.sequential("gives back what a canceled task has cost, to the account and to the budget of the day, and no more", async () => {
    await openCustomers(4);
    const tasks = await createAll();
    const canceled = tasks.filter((_, n) => n % ACTIVE_MAX < 2);
    await Promise.all(canceled.map(({ id, accountId }, n) => instance(n).application.panoramas.cancel(id, accountId)));
    expect(await ended(canceled)).toEqual(canceled.map(() => "canceled"));
    const again = await Promise.all(customers.flatMap((customer) => [0, 1].map((n) => create(customer, n))));
    expect(again.filter((created) => typeof created === "string")).toEqual([]);
    outside.provider.play({ poll: "succeeded" });
    const others = tasks.filter((task) => !canceled.includes(task)).concat(again as Task[]);
    expect(await ended(others)).toEqual(others.map(() => "succeeded"));
    const beyond = await Promise.all(customers.flatMap((customer) => [0, 1].map((n) => create(customer, n))));
    expect(beyond).toEqual(beyond.map(() => "budget_spent"));
    await expectExactLedger(BUDGET);
  });

  it.sequential("counts requests of a key exactly", async () => {
    await openCustomers(1);
    const [customer] = customers;
    const reads = Array.from({ length: 90 }, async (_, n) => {
      await setTimeout(10 * n); // while the clock is set
      return instance(n).requests.admit(secrets.sha256(customer?.secret ?? ""), "read");
    });
    const admitted = (await Promise.all(reads)).filter((read) => read.isOk());
    expect(admitted).toHaveLength(60);
  });
});
