import { execFile } from "node:child_process";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgres } from "../../../adapters/persistence/stores/postgres-meter-store.js";
import { meter } from "../../../application/credits/meter.js";
import { type Answer, PROOF_POLICY } from "../../../bootstrap/meter/proof-worker.js";
import { prove, verify } from "../../../bootstrap/meter/prove.js";
import { freshDatabase } from "../../support/postgres.js";

const COMMAND = "dist/bootstrap/meter/command.js";

describe("panorama-meter prove", () => {
  let url: string;
  let pool: pg.Pool;
  beforeAll(async () => {
    url = await freshDatabase();
    pool = new pg.Pool({ connectionString: url });
  });
  afterAll(() => pool.end());

  it("finds nothing wrong with processes that are killed, and leaves no schema", async () => {
    const { kills, checks } = await prove([COMMAND, "work"], url, 4);
    expect(kills).toBeGreaterThan(1);
    expect(checks.flatMap(({ wrong }) => wrong)).toEqual([]);
    const { rows } = await pool.query("select nspname from pg_namespace where nspname like 'panorama%'");
    expect(rows).toEqual([]);
  });

  it("finds each thing that is wrong", async () => {
    const schema = "planted";
    const tokens = meter({ policy: PROOF_POLICY, store: await postgres(pool, { schema }) });
    await pool.query(`create table ${schema}.job (task_id text primary key)`);
    await tokens.purchase("a", { orderId: "order-1", credits: 20 });
    const hold = (await tokens.hold("a", { price: "token", quantity: 5 }))._unsafeUnwrap();
    await pool.query(`insert into ${schema}.job values ($1)`, [hold.taskId]);
    await hold.capture({ credits: 3 });
    const answers: readonly Answer[] = [
      { told: "bought", account: "a", order: "order-1", credits: 20 },
      { told: "held", account: "a", task: hold.taskId, key: undefined },
      { told: "captured", task: hold.taskId, credits: 3 },
    ];
    const found = async (told = answers) => (await verify(pool, schema, told)).flatMap(({ wrong }) => wrong);
    expect(await found()).toEqual([]);
    expect(await found([...answers, { told: "refunded", task: hold.taskId }])).toEqual([
      `not true: {"told":"refunded","task":"${hold.taskId}"}`,
    ]);
    await pool.query(`update ${schema}.meter_account set credits = 18; delete from ${schema}.job`);
    expect(await found()).toEqual([
      "account a has 18 credits, its entries give 17",
      `task ${hold.taskId} has a hold and no row of the caller`,
    ]);
    await pool.query(`update ${schema}.meter_entry set credits = 3 where kind = 'refund'`);
    expect(await found()).toContain(`task ${hold.taskId} is captured, and its entries take 2 credits`);
  });

  it("says how it is used, and why it cannot connect", async () => {
    const run = (...args: readonly string[]) => promisify(execFile)(process.execPath, [COMMAND, ...args]);
    expect((await run("--help")).stdout).toContain("panorama-meter prove --postgres URL");
    const failed = run("prove", "--postgres", "postgres://127.0.0.1:1/none");
    await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("ECONNREFUSED") });
  });
});
