// A meter on PostgreSQL whose holds are committed together with rows of yours: DATABASE_URL=postgres://… node
// meter-on-postgres.js
// `within(client)` locks the account until the transaction ends, so keep it short, and take several accounts in one
// order. Await a call before your own next statement, which would be undone with it if it fails.
import { definePolicy, meter } from "panorama-service";
import { postgresMeterStore } from "panorama-service/adapters/persistence";
import { Pool } from "pg";

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
const policy = definePolicy({ prices: { image: 5 }, rates: {}, activeMax: 3, holdSeconds: 600 });
const credits = meter({ policy, store: await postgresMeterStore(pool, { schema: "credits" }) });
await credits.purchase("acme", { orderId: "order-1", credits: 12, description: "Starter pack" });
await pool.query("create table if not exists job (task_id text primary key, prompt text not null)");

/** The hold and the row of the job are committed together, or neither is. */
const open = async (prompt: string): Promise<string> => {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const held = await credits.within(client).hold("acme", { price: "image", metadata: { prompt } });
    if (held.isOk()) await client.query("insert into job values ($1, $2)", [held.value.taskId, prompt]);
    await client.query("commit");
    return held.isOk() ? held.value.taskId : held.error.kind;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
};

const [first, second, third] = [await open("a lake"), await open("a hill"), await open("a city")];
// Any process ends it, by its id.
await (await credits.find("acme", first))?.capture();
await (await credits.find("acme", second))?.refund();
const { rows } = await pool.query("select count(*)::int jobs from job");
console.log(JSON.stringify({ third, jobs: rows[0].jobs, balance: await credits.balance("acme") }));
await pool.end();
