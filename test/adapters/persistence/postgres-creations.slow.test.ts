import { err, ok } from "neverthrow";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anApiKey,
  aPaidOrder,
  aPlace,
  aSubmittingTask,
  noon,
  openATask,
  orderId,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { unwrap } from "../../../adapters/contracts/tasks/task-setup.js";
import { HandClock } from "../../../adapters/memory/hand-clock.js";
import { openPostgresDatabase } from "../../../adapters/persistence/database/postgres/open-postgres-database.js";
import type { Database } from "../../../adapters/persistence/database/sql/database.js";
import { isWorthPreparing } from "../../../adapters/persistence/database/sql/statement.js";
import { PostgresApiRequests } from "../../../adapters/persistence/limits/postgres-api-requests.js";
import { sqlTasks } from "../../../adapters/persistence/tasks/sql-tasks.js";
import { StoreBusy } from "../../../application/ports/stores/store-errors.js";
import type { TaskPorts } from "../../../application/ports/stores/stores.js";
import type { AccountSnapshot } from "../../../application/ports/stores/tasks/task-store.js";
import type { Email } from "../../../domain/accounts/account.js";
import { NO_LIMITS } from "../../../domain/accounts/key-limits.js";
import type { Spending } from "../../../domain/credits/budget.js";
import { credits } from "../../../domain/credits/credits.js";
import type { IdempotencyKey, IdempotentRequest } from "../../../domain/credits/idempotency.js";
import { audit } from "../../../domain/credits/ledger-audit.js";
import type { Standing } from "../../../domain/credits/standing.js";
import { RATE_LIMITS } from "../../../domain/panorama-policy.js";
import type { QueuePosition } from "../../../domain/tasks/queue.js";
import { fail, type SubmittingTask, submit } from "../../../domain/tasks/task.js";
import { freshDatabase } from "../../support/postgres.js";
import { postgresStores } from "../../support/postgres-stores.js";

/*
 * On PostgreSQL a creation reads the account, decides, and writes if the account's row is unchanged. The contract suite
 * has the rules; these tests change the account between the two statements.
 */
describe("TaskStore on PostgreSQL: a creation in two statements", () => {
  const owner = accountId(1);
  const idempotent: IdempotentRequest = { key: "k" as IdempotencyKey, request: "a".repeat(64) };
  let url: string;
  let stores: Awaited<ReturnType<typeof postgresStores>>;
  let database: Database;

  beforeAll(async () => {
    url = await freshDatabase();
  });
  beforeEach(async () => {
    stores = await postgresStores(url);
    ({ database } = stores);
    await stores.accounts.open(anAccount({ id: owner }), { order: aPaidOrder({ credits: credits(100) }) });
  });
  afterEach(async () => {
    for await (const { standing, entries, tasks } of stores.ledger.all()) {
      expect(audit(standing, entries, tasks)).toEqual([]);
    }
    await stores.close();
  });

  const open = (
    tasks: TaskPorts,
    n: number,
    { key, seen = [] }: { key?: IdempotentRequest; seen?: Standing[] } = {},
  ) => {
    const task = aSubmittingTask({ id: taskId(n), accountId: owner });
    return tasks.open({
      account: owner,
      dueAt: noon,
      idempotent: key,
      decide: (standing) => {
        seen.push(standing);
        return openATask(standing, task, noon);
      },
    });
  };
  const opened = async (n: number, key?: IdempotentRequest) =>
    unwrap(await open(stores.tasks, n, { ...(key && { key }) })).task as SubmittingTask;
  const standing = async (): Promise<Standing | undefined> => {
    for await (const account of stores.ledger.all()) return account.standing;
    return undefined;
  };

  /** A store whose every read of the account is followed by `work`, as if other requests ran in between. */
  const afterEachRead = (work: (read: number) => Promise<unknown>): TaskPorts => {
    let reads = 0;
    return withSql(database, async (statement, parameters) => {
      const rows = await database.sql(statement, parameters);
      if (statement.startsWith("select")) await work(++reads);
      return rows;
    });
  };

  it("notices a change in between, even if credits and active tasks are the same again", async () => {
    const tasks = afterEachRead(async (read) => {
      if (read > 1) return;
      const task = await opened(2, idempotent);
      const submitted = submit(task, "upstream-2", noon);
      unwrap(await stores.tasks.move(task, submitted, noon));
      unwrap(await stores.tasks.move(submitted, fail(submitted, "generation_failed", noon), undefined));
      expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
    });
    expect(unwrap(await open(tasks, 1, { key: idempotent }))).toMatchObject({
      task: { id: taskId(2), state: "failed" },
      replayed: true,
    });
    expect(await stores.tasks.find(taskId(1), owner)).toBeUndefined();
  });

  it("locks the account if it changes after every read", async () => {
    const seen: Standing[] = [];
    const buy = (n: number) =>
      database.sql(`with order_ as (insert into credit_order (id, account_id, credits, created_at, paid_at)
        values ('ord_${n}', '${owner}', 1, now(), now()) returning id),
        entry as (insert into ledger_entry (account_id, kind, credits, order_id, at)
          select '${owner}', 'purchase', 1, id, now() from order_)
        update account set credits = credits + 1 where id = '${owner}'`);
    const tasks = afterEachRead(buy);
    expect(unwrap(await open(tasks, 1, { seen })).replayed).toBe(false);
    expect(seen.map(({ credits }) => credits)).toEqual([100, 101, 102, 103]);
    expect(await standing()).toEqual({ accountId: owner, credits: 99, activeTasks: 1 });
  });

  it("uses one connection to wait for the lock of an account", async () => {
    const tasks = [1, 2].map((n) => aSubmittingTask({ id: taskId(n), accountId: owner }));
    for (const { id } of tasks) await opened(Number(id.slice(-12)));
    let writes: Promise<unknown>[] = [];
    let waiting: number | undefined;
    const other = await openPostgresDatabase(url, 2);
    await other.transaction(async (sql) => {
      await sql("update account set credits = credits where id = ?", [owner]);
      writes = [
        ...Array.from({ length: 20 }, (_, n) => open(stores.tasks, 10 + n)),
        ...tasks.map((task) => stores.tasks.move(task, fail(task, "submission_unknown", noon), undefined)),
      ];
      while ((await other.sql(WAITING)).length === 0);
      for (let n = 0; n < 20; n += 1) waiting = (await other.sql(WAITING)).length;
      return ok(undefined);
    });
    await Promise.all(writes);
    await other.close();
    expect(waiting).toBe(1);
    // The creations come first: five at most are active. Then two tasks are refunded.
    expect(await standing()).toEqual({ accountId: owner, credits: 88, activeTasks: 3 });
  });

  it("throws StoreBusy, and has written nothing, if others hold the account's lock for seconds", async () => {
    let busy: unknown;
    await database.transaction(async (sql) => {
      await sql("update account set credits = credits where id = ?", [owner]);
      busy = await open(stores.tasks, 1).catch((error: unknown) => error);
      return ok(undefined);
    });
    expect(busy).toBeInstanceOf(StoreBusy);
    expect(busy).toMatchObject({ message: expect.stringContaining("lock timeout") });
    expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
  });

  describe("with the account as it was read with the key", () => {
    const key = anApiKey({ accountId: owner });
    const chain = { places: [aPlace(undefined, "first")], dueAt: noon };
    let snapshot: AccountSnapshot;

    beforeEach(async () => {
      unwrap(await stores.keys.insert(key, () => ok(undefined)));
      snapshot = await read();
    });

    const read = async () => {
      const requests = new PostgresApiRequests(database, new HandClock(), RATE_LIMITS);
      const admitted = await requests.admit(key.secretSha256, "write");
      return unwrap(admitted).key.account as AccountSnapshot;
    };
    const openWith = (tasks: TaskPorts, n: number, idempotentRequest?: IdempotentRequest, seen: Standing[] = []) => {
      const task = aSubmittingTask({ id: taskId(n), accountId: owner });
      const decide = (standing: Standing, queued?: QueuePosition, _?: Spending, place?: string) => {
        seen.push(standing);
        return openATask(standing, task, noon, { turn: queued?.turn, place });
      };
      return tasks.open({ account: owner, dueAt: noon, idempotent: idempotentRequest, decide, queue: chain, snapshot });
    };
    const counting = (statements: string[]) =>
      withSql(database, (statement, parameters) => {
        statements.push(statement.slice(0, 6));
        return database.sql(statement, parameters);
      });

    it("sends one statement", async () => {
      const statements: string[] = [];
      expect(snapshot.standing).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
      expect(unwrap(await openWith(counting(statements), 1))).toMatchObject({ task: { id: taskId(1) } });
      expect(statements).toEqual(["with c"]);
      expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
    });

    it("prepares each statement of a creation, with an idempotency key and without", async () => {
      const statements: string[] = [];
      const recording = Object.assign(Object.create(database) as Database, {
        sql: (statement: string, parameters: readonly unknown[]) => {
          statements.push(statement);
          return database.sql(statement, parameters);
        },
      });
      const admitted = await new PostgresApiRequests(recording, new HandClock(), RATE_LIMITS).admit(
        key.secretSha256,
        "write",
      );
      snapshot = unwrap(admitted).key.account as AccountSnapshot;
      const { task } = unwrap(await openWith(sqlTasks(recording), 1));
      unwrap(await sqlTasks(recording).move(task, submit(task as SubmittingTask, "upstream-1", noon), noon));
      unwrap(await openWith(sqlTasks(recording), 2, idempotent));
      expect(statements).toHaveLength(5);
      expect(statements.filter((statement) => !isWorthPreparing(statement))).toEqual([]);
    });

    it("reads the account again if it has changed since", async () => {
      const seen: Standing[] = [];
      await opened(2);
      unwrap(await openWith(stores.tasks, 1, undefined, seen));
      expect(seen).toMatchObject([{ credits: 100 }, { credits: 96 }]);
      expect(await standing()).toEqual({ accountId: owner, credits: 92, activeTasks: 2 });
    });

    it("does not overtake a task that waits", async () => {
      const other = accountId(2);
      const waits = aSubmittingTask({ id: taskId(2), accountId: other });
      await stores.accounts.open(anAccount({ id: other, email: "other@example.com" as Email }), {
        order: aPaidOrder({ id: orderId(2), accountId: other, credits: credits(100) }),
      });
      const full = { places: [], dueAt: noon };
      const queued = await stores.tasks.open({
        account: other,
        dueAt: noon,
        decide: (standing, place) => openATask(standing, waits, noon, { turn: place?.turn }),
        queue: full,
      });
      expect(unwrap(queued).task.state).toBe("queued");
      expect(unwrap(await openWith(stores.tasks, 1)).task.state).toBe("queued");
    });
  });

  describe("with the budget of a key", () => {
    const budgets = { creditsPerDay: credits(14), creditsPerMonth: undefined };
    const key = anApiKey({ accountId: owner, limits: { ...NO_LIMITS, ...budgets } });

    beforeEach(async () => unwrap(await stores.keys.insert(key, () => ok(undefined))));

    const spend = (tasks: TaskPorts, n: number, seen: (Spending | undefined)[] = []) => {
      const task = aSubmittingTask({ id: taskId(n), accountId: owner, apiKeyId: key.id });
      return tasks.open({
        account: owner,
        dueAt: noon,
        decide: (standing, place, spending) => {
          seen.push(spending);
          return openATask(standing, task, noon, { turn: place?.turn, budget: spending && { budgets, spending } });
        },
        spender: { apiKeyId: key.id, now: noon },
      });
    };
    const spent = async () => (await stores.keys.spending(owner, noon)).get(key.id)?.today;

    it("decides again when the key has spent more, or was given credits back, in between", async () => {
      const seen: (Spending | undefined)[] = [];
      const tasks = afterEachRead(async (read) => {
        if (read === 1) unwrap(await spend(stores.tasks, 2));
        if (read !== 2) return;
        const [task] = await stores.tasks.list(owner, 1, undefined);
        unwrap(
          await stores.tasks.move(task as SubmittingTask, fail(task as SubmittingTask, "refused", noon), undefined),
        );
      });
      unwrap(await spend(tasks, 1, seen));
      expect(seen.map((spending) => spending?.today)).toEqual([0, 4, 0]);
      expect(await spent()).toBe(4);
    });

    it("locks the account if it changes after every read, and reads the spending again", async () => {
      const seen: (Spending | undefined)[] = [];
      let n = 10;
      const tasks = afterEachRead(async (read) => {
        if (read > 3) return;
        n += 1;
        unwrap(await spend(stores.tasks, n));
      });
      expect(await spend(tasks, 1, seen)).toMatchObject(err({ kind: "budget_spent", left: 2 }));
      expect(seen.map((spending) => spending?.today)).toEqual([0, 4, 8, 12]);
      expect(await spent()).toBe(12);
    });
  });
});

/** Statements of this database that wait for a lock. */
const WAITING = `select pid from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query like '%checked%'`;

const withSql = (database: Database, sql: Database["sql"]): TaskPorts =>
  sqlTasks(Object.assign(Object.create(database) as Database, { sql }));
