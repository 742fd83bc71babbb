// A service that transcodes videos, which costs 2 credits a minute. Any number of processes share one PostgreSQL. They
// may be killed at any time, and need no right clock: DATABASE_URL=postgres://… PORT=8080 node service.js
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { definePolicy, meter } from "panorama-service";
import { postgresMeterStore } from "panorama-service/adapters/persistence";
import { Pool, type PoolClient } from "pg";

const pool = new Pool({ connectionString: process.env.DATABASE_URL });
pool.on("error", () => {}); // a lost connection fails the statement that uses it
const policy = definePolicy({ prices: { minute: 2 }, rates: {}, activeMax: 3, holdSeconds: 60 });
const credits = meter({ policy, store: await postgresMeterStore(pool, { schema: "credits" }) });
await pool.query(`
  select pg_advisory_xact_lock(1); -- both processes may start at the same time
  create table if not exists job (
    task_id text primary key, account text not null, video text not null, minutes integer not null,
    state text not null default 'waiting', transcoded integer, leased_until timestamptz not null default now()
  )`);

type Order = { readonly account: string; readonly video: string; readonly minutes: number };
type Job = Order & { readonly task_id: string };
type Payment = { readonly account: string; readonly order: string; readonly credits: number };

const inTransaction = async <Answer>(work: (client: PoolClient) => Promise<Answer>): Promise<Answer> => {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const answer = await work(client);
    await client.query("commit");
    return answer;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  } finally {
    client.release();
  }
};

/** The hold and the job are committed together. A customer who got no answer repeats the order with its key. */
const open = (order: Order, idempotencyKey: string) =>
  inTransaction(async (client) => {
    const { account, video, minutes } = order;
    const request = { price: "minute", quantity: minutes, idempotencyKey, fingerprint: video } as const;
    const held = await credits.within(client).hold(account, request);
    if (held.isErr()) return { error: held.error.kind };
    const { taskId, replayed } = held.value;
    if (!replayed) {
      const row = [taskId, account, video, minutes];
      await client.query("insert into job (task_id, account, video, minutes) values ($1, $2, $3, $4)", row);
    }
    return { job: taskId };
  });

/** What becomes of the hold and of the job is committed together, once. What was not used returns. */
const end = ({ task_id, account }: Job, transcoded: number | undefined): Promise<void> =>
  inTransaction(async (client) => {
    const hold = await credits.within(client).find(account, task_id);
    let state = "expired"; // nobody has renewed the hold in time, or another process has ended hold and job
    if (hold?.state === "held") {
      state = transcoded === undefined ? "failed" : "done";
      if (transcoded === undefined) await hold.refund();
      else await hold.capture({ credits: policy.prices.minute * transcoded });
    }
    const ended = "update job set state = $2, transcoded = $3 where task_id = $1 and state = 'waiting'";
    await client.query(ended, [task_id, state, transcoded]);
  });

/** A job that nobody works on, also one of a process that has died. Times are those of the database. */
const claim = async (): Promise<Job | undefined> => {
  const { rows } = await pool.query<Job>(`
    update job set leased_until = now() + interval '1 second' where task_id = (
      select task_id from job where state = 'waiting' and leased_until <= now() limit 1 for update skip locked
    ) returning task_id, account, video, minutes`);
  return rows[0];
};

/** Your encoder, here one that needs 50 ms for a minute of a video. Videos may be broken, or shorter than ordered. */
const transcode = async (job: Job): Promise<number | undefined> => {
  const minutes = job.video.startsWith("short") ? job.minutes - 1 : job.minutes;
  for (let minute = 0; minute < minutes; minute += 1) {
    await setTimeout(50);
    if (job.video.startsWith("broken")) return undefined;
    await pool.query("update job set leased_until = now() + interval '1 second' where task_id = $1", [job.task_id]);
    await (await credits.find(job.account, job.task_id))?.renew();
  }
  return minutes;
};

const work = async (): Promise<never> => {
  for (;;) {
    try {
      const job = await claim();
      if (job === undefined) await setTimeout(50);
      else await end(job, await transcode(job));
    } catch (error) {
      console.error(error); // the lease of the job ends, and it is claimed again
      await setTimeout(200);
    }
  }
};

const isOrder = (value: object): value is Order => "account" in value && "video" in value && "minutes" in value;
const isPayment = (value: object): value is Payment => "account" in value && "order" in value && "credits" in value;

const answer = async (request: IncomingMessage): Promise<object> => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://service");
  if (request.method === "GET") return { balance: await credits.balance(searchParams.get("account") ?? "") };
  const body: unknown = JSON.parse(await text(request));
  if (typeof body !== "object" || body === null) return { error: "invalid" };
  if (pathname === "/jobs" && isOrder(body)) return open(body, String(request.headers["idempotency-key"]));
  // The webhook of your payment service: it may come several times, to any process.
  if (pathname === "/payments" && isPayment(body)) {
    return { balance: await credits.purchase(body.account, { orderId: body.order, credits: body.credits }) };
  }
  return { error: "unknown" };
};

const server = createServer((request, response) => {
  answer(request).then(
    (body) => response.writeHead("error" in body ? 400 : 200).end(JSON.stringify(body)),
    (error) => response.writeHead(500).end(String(error)), // nothing has happened, or all of it: repeat the call
  );
});
server.listen(Number(process.env.PORT), "127.0.0.1", () => console.log("ready"));
await Promise.all([work(), work()]);
