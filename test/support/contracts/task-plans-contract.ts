import { ok } from "neverthrow";
import { beforeAll, describe, expect, it } from "vitest";
import {
  accountId,
  anAccount,
  anEndpoint,
  aPaidOrder,
  aQueuedTask,
  endpointId,
  noon,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import { readBacklog } from "../../../adapters/persistence/tasks/backlog.js";
import { credits } from "../../../domain/credits/credits.js";
import type { TaskId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { Stores } from "../../contracts/stores.js";
import type { AnyDatabase, SqlStores } from "../sql-stores.js";
import { sqlStores } from "../sql-stores.js";

const FINISHED = 20_000;
const RUNNING = 2_000;

/** The statements of background work and of lists read an index, with many finished, running and waiting tasks. */
export const describeTaskPlans = (
  technology: string,
  makeStores: () => Promise<Stores & { readonly database: AnyDatabase }>,
) =>
  describe(`TaskStore ${technology} with ${FINISHED} finished, ${RUNNING} running and ${RUNNING} waiting tasks`, () => {
    let stores: Awaited<ReturnType<typeof makeStores>>;

    beforeAll(async () => {
      stores = await makeStores();
      await stores.accounts.open(anAccount(), { order: aPaidOrder({ credits: credits(1) }) });
      const { sql, dialect } = stores.database;
      const insert = (n: string, from: number, count: number, columns: string, values: string) =>
        sql(
          `insert into task (id, account_id, slug, resolution, image_urls, visibility, credits, reserved_at, fence, ${columns})
          with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${from + count - 1})
          select ${n}, ?, 's' || n, '1k', '[]', 'private', 4, cast(? as timestamptz), 0, ${values} from numbers`,
          [accountId(1), noon],
        );
      const at = dialect === "sqlite" ? noon.getTime() : `timestamptz '${noon.toISOString()}'`;
      const insertKeys = (where: string) =>
        sql(
          `insert into idempotency_key (account_id, key, task_id, request_sha256, created_at)
          select account_id, id, id, 'x', reserved_at from task where ${where}`,
        );
      // In steps, because a statement may take four seconds only.
      for (let from = 1; from <= FINISHED; from += RUNNING) {
        await insert("'done-' || n", from, RUNNING, "state, storage_status", "'succeeded', 'saved'");
        const isNew = `state = 'succeeded' and cast(substr(id, 6) as integer) >= ${from}`;
        await sql(
          `insert into event (account_id, number, type, task_id, at)
          select account_id, cast(substr(id, 6) as integer), 'panorama.succeeded', id, reserved_at
          from task where ${isNew}`,
        );
        await insertKeys(isNew);
      }
      await insert(
        "'run-' || n",
        FINISHED + 1,
        RUNNING,
        "state, upstream_task_id, submitted_at, due_at",
        `'submitted', 'u', ${at}, ${at}`,
      );
      await insert("'wait-' || n", FINISHED + RUNNING + 1, RUNNING, "state, turn", "'queued', n");
      await insertKeys("state <> 'succeeded'");
      await sql("analyze");
      return () => stores.close();
    });

    const plansOf = (work: (tasks: Stores["tasks"]) => Promise<unknown>) =>
      plansOn(stores.database, ({ tasks }) => work(tasks));
    const expectIndex = (plans: string, index: string) => {
      expect(plans).toContain(index);
      expect(plans).not.toMatch(/Seq Scan on task|SCAN task(?! USING (COVERING )?INDEX)/);
    };
    const later = secondsAfter(noon, 3600);

    it("claims with the index of due tasks", async () => {
      expectIndex(await plansOf((tasks) => tasks.claim("poll", noon, later, 64)), "task_due_index");
    });

    it("claims with the index of due tasks while unreadable ones are skipped", async () => {
      await stores.database.sql("update task set resolution = '8k' where id = 'run-20001'");
      const plans = await plansOf((tasks) => tasks.claim("poll", later, secondsAfter(later, 60), 64));
      expectIndex(plans, "task_due_index");
    });

    it("brings tasks forward with the index of due tasks", async () => {
      await stores.database.sql("update task set due_at = ? where id = 'run-20002'", [secondsAfter(later, 9999)]);
      expectIndex(
        await plansOf((tasks) =>
          tasks.bringForward("poll", () => ({ now: later, latest: secondsAfter(later, 999), dueAt: later })),
        ),
        "task_due_index",
      );
    });

    it("counts unfinished tasks with the index of due tasks", async () => {
      const plans = await plansOn(stores.database, (_, database) => readBacklog(database.sql, noon));
      expectIndex(plans, "task_due_index");
      const backlog = await readBacklog(stores.database.sql, noon);
      expect(backlog.tasks.get("submitted")).toMatchObject({ waiting: RUNNING, oldest: noon });
      expect(backlog.tasks.get("succeeded")).toEqual({ waiting: 0, oldest: undefined, dueAt: undefined });
    });

    it("finds a panorama by its image, and hidden images, with indexes of their own", async () => {
      const image = { name: "panoramas/none.jpg" as ObjectName };
      expectIndex(await plansOf((tasks) => tasks.findByImage(image.name)), "task_image_index");
      // PostgreSQL may read the index of hidden temporary URLs, which is empty here.
      expectIndex(await plansOf((tasks) => tasks.isHiddenImage(image)), "_index");
      const temporary = { temporaryUrl: "https://provider.example/none.jpg" };
      expectIndex(await plansOf((tasks) => tasks.isHiddenImage(temporary)), "task_hidden_");
    });

    it("counts the tasks before a waiting one with the index of the queue", async () => {
      const task = aQueuedTask({ id: "wait-22500" as TaskId, turn: 22_500 });
      expectIndex(await plansOf((tasks) => tasks.countAhead(task, 101)), "task_queue_index");
      expect(await stores.tasks.countAhead(task, RUNNING)).toBe(499);
      expect(await stores.tasks.countAhead(task, 101)).toBe(101);
    });

    it.each<[string, string, (stores: SqlStores) => Promise<unknown>]>([
      ["texts to erase", "task_text_index", ({ tasks }) => tasks.eraseTexts(later, 9, later)],
      ["idempotency keys to forget", "idempotency_key_created_index", ({ tasks }) => tasks.forgetIdempotencyKeys(noon)],
      ["the oldest events", "event_age_index", ({ deliveries }) => deliveries.deleteEvents(later, 9)],
    ])("finds %s with an index by their age", async (_, index, work) => {
      const plans = await plansOn(stores.database, work);
      expectIndex(plans, index);
      expect(plans).not.toMatch(/Seq Scan on (event|idempotency_key)|SCAN (event|idempotency_key)(?! USING)/);
    });

    it("finds failed images with an index of their own", async () => {
      expectIndex(await plansOf((tasks) => tasks.listFailedImages(100, taskId(1))), "task_failed_image_index");
    });
  });

/** The plans of the statements that `work` runs. */
const plansOn = async (
  database: AnyDatabase,
  work: (stores: SqlStores, database: AnyDatabase) => Promise<unknown>,
): Promise<string> => {
  const plans: unknown[] = [];
  const explaining: AnyDatabase = Object.assign(Object.create(database), {
    sql: async (statement: string, parameters: readonly unknown[] = []) => {
      const explain = database.dialect === "sqlite" ? "explain query plan" : "explain";
      const values = [...parameters];
      const literals = statement.replaceAll("?", () => literal(values.shift(), database.dialect));
      // Reading is harmless; `returning` would make this a write.
      plans.push(...(await database.snapshot((sql) => sql(`${explain} ${literals}`))));
      return database.sql(statement, parameters);
    },
  });
  await work(sqlStores(explaining), explaining);
  return plans.map((plan) => JSON.stringify(plan)).join("\n");
};

const literal = (value: unknown, dialect: AnyDatabase["dialect"]): string => {
  if (value instanceof Date) return dialect === "sqlite" ? String(value.getTime()) : `'${value.toISOString()}'`;
  if (Array.isArray(value)) return `'{${value.join(",")}}'`;
  return typeof value === "number" ? String(value) : `'${String(value).replaceAll("'", "''")}'`;
};

const EVENTS = 10_000;
const ENDPOINTS = 10;

/** A claim of deliveries reads an index, when one of several endpoints has many that are due. */
export const describeDeliveryPlans = (
  technology: string,
  makeStores: () => Promise<Stores & { readonly database: AnyDatabase }>,
) =>
  describe(`DeliveryStore ${technology} with ${EVENTS} events that are due at one endpoint`, () => {
    let stores: Awaited<ReturnType<typeof makeStores>>;

    beforeAll(async () => {
      stores = await makeStores();
      const { sql } = stores.database;
      await stores.accounts.open(anAccount(), { order: aPaidOrder({ credits: credits(1) }) });
      for (let n = 1; n <= ENDPOINTS; n += 1) {
        await stores.endpoints.insert(anEndpoint({ id: endpointId(n) }), () => ok(undefined));
      }
      const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${EVENTS})`;
      await sql(
        `insert into event (account_id, number, type, credits, at)
        ${numbers} select ?, n, 'credits.low', 1, cast(? as timestamptz) from numbers`,
        [accountId(1), noon],
      );
      await sql(
        `insert into webhook_delivery (endpoint_id, account_id, number, lane, state, attempts, due_at, fence)
        select webhook_endpoint.id, event.account_id, number, webhook_endpoint.id, 'pending', 0, at, 0
        from event join webhook_endpoint on webhook_endpoint.id = ? or number = 1`,
        [endpointId(1)],
      );
      return () => stores.close();
    });

    // PostgreSQL collects them at any moment. SQLite has none, and must not read all deliveries of the account.
    it.each(technology === "on SQLite" ? ["before", "after"] : ["after"])(
      "claims deliveries in the order of the index, and finds a task's deliveries, %s statistics are collected",
      async (when) => {
        if (when === "after") await stores.database.sql("analyze");
        const found = await plansOn(stores.database, ({ deliveries }) => deliveries.ofTask(accountId(1), taskId(1)));
        expect(found).toContain("webhook_delivery_account_index");
        const plans = await plansOn(stores.database, ({ deliveries }) =>
          deliveries.claim({
            now: noon,
            until: secondsAfter(noon, 20),
            limit: 1_000,
            laneLimit: 8,
            busyLanes: [],
            choose: (due) => due.slice(0, 256),
          }),
        );
        const claim = plans.slice(plans.indexOf("lanes")); // before it, a read asks whether any is due
        expect(claim).toMatch(
          /Index Scan using webhook_delivery_lane_index on webhook_delivery candidate|SEARCH candidate USING INDEX webhook_delivery_lane_index/,
        );
        expect(claim).not.toMatch(/Seq Scan on webhook_delivery|SCAN webhook_delivery(?! USING (COVERING )?INDEX)/);
      },
    );
  });
