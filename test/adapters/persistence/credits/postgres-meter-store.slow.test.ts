import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type PostgresConnection,
  postgresMeterStore,
} from "../../../../adapters/persistence/credits/postgres-meter-store.js";
import { meter } from "../../../../application/credits/meter.js";
import { definePolicy } from "../../../../domain/credits/policy.js";
import { describeJoiningMeter } from "../../../support/contracts/joining-meter-contract.js";
import { freshDatabase } from "../../../support/postgres.js";

const policy = definePolicy({ prices: { minute: 2 }, rates: {}, activeMax: 5 });

let pool: pg.Pool;
beforeAll(async () => {
  pool = new pg.Pool({ connectionString: await freshDatabase() });
});
afterAll(() => pool.end());

let schemas = 0;
const newSchema = (): string => {
  schemas += 1;
  return `meter_${schemas}`;
};

describeJoiningMeter<PostgresConnection>("on PostgreSQL", async () => {
  const schema = newSchema();
  const store = await postgresMeterStore(pool, { schema });
  await pool.query(`create table ${schema}.job (id serial, task_id text)`);
  return {
    store,
    transact: async (end, work) => {
      const client = await pool.connect();
      try {
        await client.query("begin");
        await work(client);
        await client.query(end);
      } finally {
        client.release();
      }
    },
    insertJob: async (connection, taskId) => {
      await connection.query({ text: `insert into ${schema}.job (task_id) values ($1)`, values: [taskId] });
    },
    jobs: async () => {
      const { rows } = await pool.query<{ task_id: string }>(`select task_id from ${schema}.job order by id`);
      return rows.map((row) => row.task_id);
    },
    idle: { query: (query) => pool.query(query) },
    close: async () => {},
  };
});

describe("the store of a meter in a pool", () => {
  it("reads without a lock and writes nothing", async () => {
    const schema = newSchema();
    const pdf = meter({ policy, store: await postgresMeterStore(pool, { schema }) });
    await pdf.purchase("acme", { orderId: "order-1", credits: 10 });
    const held = (await pdf.hold("acme", { price: "minute" }))._unsafeUnwrap();
    const client = await pool.connect();
    await client.query(`begin; select * from ${schema}.meter_account where id = 'acme' for update`);
    expect(await pdf.balance("acme")).toBe(8);
    expect((await pdf.find("acme", held.taskId))?.state).toBe("held");
    expect(await pdf.openHolds("acme")).toHaveLength(1);
    expect(await pdf.balance("nobody")).toBe(0);
    await client.query("rollback");
    client.release();
    const { rows } = await pool.query(`select id from ${schema}.meter_account`);
    expect(rows).toEqual([{ id: "acme" }]);
  });

  it("works in a transaction of a client that has known the tables of an earlier version", async () => {
    const schema = newSchema();
    const pdf = meter({ policy, store: await postgresMeterStore(pool, { schema }) });
    await pdf.purchase("acme", { orderId: "order-1", credits: 10 });
    const client = await pool.connect();
    for (const balance of [8, 6]) {
      await client.query("begin");
      expect((await pdf.within(client).hold("acme", { price: "minute" })).isOk()).toBe(true);
      await client.query("commit");
      expect(await pdf.balance("acme")).toBe(balance);
      await pool.query(`alter table ${schema}.meter_hold add column of_later_${balance} integer`);
    }
    client.release();
  });
});
