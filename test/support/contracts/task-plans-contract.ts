import { beforeAll, describe, expect, it } from "vitest";
import { credits } from "../../../domain/credits.js";
import { accountId, anAccount, aPaidOrder, noon, secondsAfter, taskId } from "../builders.js";
import type { AnyDatabase } from "../sql-stores.js";
import { sqlStores } from "../sql-stores.js";
import type { Stores } from "./stores.js";

const FINISHED = 20_000;
const RUNNING = 2_000;

/** The statements of background work and of lists read an index, with many finished and many running tasks. */
export const describeTaskPlans = (
  technology: string,
  makeStores: () => Promise<Stores & { readonly database: AnyDatabase }>,
) =>
  describe(`TaskStore ${technology} with ${FINISHED} finished and ${RUNNING} running tasks`, () => {
    let stores: Awaited<ReturnType<typeof makeStores>>;

    beforeAll(async () => {
      stores = await makeStores();
      await stores.accounts.open(anAccount(), undefined, aPaidOrder({ credits: credits(1) }), undefined);
      const { sql, dialect } = stores.database;
      const insert = (n: string, from: number, count: number, columns: string, values: string) =>
        sql(
          `insert into task (id, account_id, slug, resolution, image_urls, visibility, credits, reserved_at, fence, ${columns})
          with recursive numbers (n) as (select ${from} union all select n + 1 from numbers where n < ${from + count - 1})
          select ${n}, ?, 's' || n, '1k', '[]', 'private', 4, cast(? as timestamptz), 0, ${values} from numbers`,
          [accountId(1), noon],
        );
      const at = dialect === "sqlite" ? noon.getTime() : `timestamptz '${noon.toISOString()}'`;
      await insert("'done-' || n", 1, FINISHED, "state, storage_status", "'succeeded', 'saved'");
      await insert(
        "'run-' || n",
        FINISHED + 1,
        RUNNING,
        "state, upstream_task_id, submitted_at, due_at",
        `'submitted', 'u', ${at}, ${at}`,
      );
      await sql("analyze");
      return () => stores.close();
    });

    /** The plans of the statements that `work` runs. */
    const plansOf = async (work: (tasks: Stores["tasks"]) => Promise<unknown>): Promise<string> => {
      const { database } = stores;
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
      await work(sqlStores(explaining).tasks);
      return plans.map((plan) => JSON.stringify(plan)).join("\n");
    };
    const expectIndex = (plans: string, index: string) => {
      expect(plans).toContain(index);
      expect(plans).not.toMatch(/Seq Scan on task|SCAN task(?! USING (COVERING )?INDEX)/);
    };
    const later = secondsAfter(noon, 3600);

    it("claims with the index of due tasks", async () => {
      expectIndex(await plansOf((tasks) => tasks.claim("settle", noon, later, 64)), "task_due_index");
    });

    it("claims with the index of due tasks while unreadable ones are skipped", async () => {
      await stores.database.sql("update task set resolution = '8k' where id = 'run-20001'");
      const plans = await plansOf((tasks) => tasks.claim("settle", later, secondsAfter(later, 60), 64));
      expectIndex(plans, "task_due_index");
    });

    it("brings tasks forward with the index of due tasks", async () => {
      await stores.database.sql("update task set due_at = ? where id = 'run-20002'", [secondsAfter(later, 9999)]);
      expectIndex(
        await plansOf((tasks) => tasks.bringForward("settle", secondsAfter(later, 999), later)),
        "task_due_index",
      );
    });

    it("finds failed images with an index of their own", async () => {
      expectIndex(await plansOf((tasks) => tasks.listFailedImages(100, taskId(1))), "task_failed_image_index");
    });
  });

const literal = (value: unknown, dialect: AnyDatabase["dialect"]): string => {
  if (value instanceof Date) return dialect === "sqlite" ? String(value.getTime()) : `'${value.toISOString()}'`;
  if (Array.isArray(value)) return `'{${value.join(",")}}'`;
  return typeof value === "number" ? String(value) : `'${String(value)}'`;
};
