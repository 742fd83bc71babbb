import { randomBytes } from "node:crypto";
import pg from "pg";
import { leadingPrompt } from "../../../adapters/provider/remote/leading-prompt.js";
import { fastifyApp, type Row, toBody } from "./fastify-app.js";

/*
 * A process: `as-people-write-it-on-postgres.ts PORT DATABASE_URL PUBLIC_URL PROVIDER_URL PROVIDER_KEY`. Reads and
 * creations of panoramas as most people would write them: fastify-app.ts, `pg` with its pool, and `fetch`. A creation
 * reserves its credits in a transaction, calls the provider as the service does, and stores the provider's id: two
 * durable commits, as in the service. Knows the tasks of load/data.ts only, which cost 4 credits.
 */

const PRICE = 4;
const ACTIVE_MAX = 5;

const [port = "", url = "", publicUrl = "", providerUrl = "", providerKey = ""] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 10 }); // as many as the service opens
const one = async (text: string, values: readonly unknown[]): Promise<Row | undefined> =>
  (await pool.query<Row>(text, [...values])).rows[0];

const app = await fastifyApp(
  publicUrl,
  (secretSha256) => one("select * from api_key where secret_sha256 = $1 and revoked_at is null", [secretSha256]),
  (id, accountId) =>
    one("select * from task where id = $1 and account_id = $2 and deleted_at is null", [id, accountId]),
);

const transaction = async <T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> => {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
};

/** A new task, or why there is none. */
const reserve = (accountId: unknown, keyId: unknown, prompt: string, resolution: string) =>
  transaction(async (client): Promise<Row | "insufficient_credits" | "too_many_active_tasks"> => {
    const standing = "select credits, active_tasks from account where id = $1 for update";
    const [account] = (await client.query(standing, [accountId])).rows;
    if (account.credits < PRICE) return "insufficient_credits";
    if (account.active_tasks >= ACTIVE_MAX) return "too_many_active_tasks";
    const id = `pan_${randomBytes(16).toString("hex")}`;
    const slug = randomBytes(8).toString("hex");
    const { rows } = await client.query(
      `insert into task (id, account_id, slug, resolution, prompt, image_urls, visibility, credits, state, reserved_at,
        due_at, fence, place, api_key_id)
      values ($1, $2, $3, $4, $5, '[]', 'private', $6, 'submitting', now(), now() + interval '35 s', 0,
        'replicate:bytedance/seedream-4', $7)
      returning *`,
      [id, accountId, slug, resolution, prompt, PRICE, keyId],
    );
    const entry =
      "insert into ledger_entry (account_id, kind, credits, task_id, at) values ($1, 'reservation', $2, $3, $4)";
    await client.query(entry, [accountId, -PRICE, id, rows[0].reserved_at]);
    const charge = "update account set credits = credits - $2, active_tasks = active_tasks + 1 where id = $1";
    await client.query(charge, [accountId, PRICE]);
    return rows[0];
  });

/** Fails the task, and returns its credits. */
const refund = ({ id, account_id }: Row) =>
  transaction(async (client) => {
    await client.query("update task set state = 'failed', failed_at = now(), due_at = null where id = $1", [id]);
    const entry =
      "insert into ledger_entry (account_id, kind, credits, task_id, at) values ($1, 'refund', $2, $3, now())";
    await client.query(entry, [account_id, PRICE, id]);
    const repay = "update account set credits = credits + $2, active_tasks = active_tasks - 1 where id = $1";
    await client.query(repay, [account_id, PRICE]);
  });

/** The provider's id of the task; `undefined` if it refuses. */
const submit = async (prompt: string): Promise<string | undefined> => {
  const input = { size: "custom", max_images: 1, sequential_image_generation: "disabled", enhance_prompt: false };
  const response = await fetch(`${providerUrl}/predictions`, {
    method: "POST",
    headers: { authorization: `Bearer ${providerKey}`, "content-type": "application/json", "cancel-after": "36000s" },
    body: JSON.stringify({
      version: "bytedance/seedream-4",
      input: { ...input, width: 2048, height: 1024, prompt: leadingPrompt({ prompt, imageUrls: [] }) },
    }),
  });
  return response.status === 201 ? ((await response.json()) as { id: string }).id : undefined;
};

const properties = { prompt: { type: "string", minLength: 1, maxLength: 2000 }, resolution: { const: "1k" } };
const body = { type: "object", properties, required: ["prompt", "resolution"], additionalProperties: false };

app.post<{ Body: { prompt: string; resolution: string } }>(
  "/api/v1/panoramas",
  { schema: { body } },
  async ({ apiKey, body: { prompt, resolution } }, reply) => {
    const task = await reserve(apiKey.account_id, apiKey.id, prompt, resolution);
    if (typeof task === "string")
      return reply.code(task === "insufficient_credits" ? 402 : 429).send({ error: { code: task } });
    const upstreamId = await submit(prompt);
    if (upstreamId === undefined) {
      await refund(task);
      return reply.code(502).send({ error: { code: "upstream_error" } });
    }
    await pool.query(
      `update task set state = 'submitted', submitted_at = now(), upstream_task_id = $2, due_at = now() + interval '1 h'
      where id = $1 and state = 'submitting'`,
      [task.id, `replicate:${upstreamId}`],
    );
    reply.code(202).header("location", `/api/v1/panoramas/${task.id}`);
    return toBody(task, publicUrl);
  },
);
await app.listen({ host: "127.0.0.1", port: Number(port) });
console.log("ready");
