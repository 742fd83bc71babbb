import {
  anAccount,
  aPaidOrder,
  aReservedTask,
  noon,
  openATask,
  secondsAfter,
  taskId,
} from "../../adapters/contracts/support/builders.js";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { migratePostgresDatabase } from "../../adapters/persistence/schema/migrate-postgres.js";
import type { Database } from "../../adapters/persistence/sql/database.js";
import { SqlAccountStore } from "../../adapters/persistence/stores/accounts/sql-account-store.js";
import { sqlTasks } from "../../adapters/persistence/tasks/sql-tasks.js";
import { credits } from "../../domain/credits/credits.js";
import { fail, type ReservedTask, submit } from "../../domain/tasks/task.js";
import { administer, databaseUrl, PostgresServer } from "../support/postgres.js";

/*
 * Compares the duration of a creation, a poll and a round of background work with a thousand and with a million
 * finished tasks, on one PostgreSQL server: `npm run bench growth`. The two take turns call by call, so that a noisy
 * machine disturbs both. Fails if the second is more than 10 % slower.
 */

const FEW = 1_000;
const MANY = 1_000_000;
const SLOWDOWN_MAX = 1.1;
const CALLS = 1_500;
/** The first calls fill the caches. */
const WARM_UP_CALLS = 200;
/**
 * A million tasks with their indexes take 940 MB. With PostgreSQL's default of 128 MB most calls read blocks of an
 * index from the file first: a creation then takes up to 1.18 of its time.
 */
const SHARED_BUFFERS = "1GB";
/** Finished tasks per account: few enough that there are many accounts, and their index is deep too. */
const TASKS_PER_ACCOUNT = 100;

const seed = async (url: string, finished: number): Promise<void> => {
  const sql = (statement: string) => administer(url, statement); // this has no timeout
  const accounts = finished / TASKS_PER_ACCOUNT;
  const pay = 10 * TASKS_PER_ACCOUNT;
  await sql(`insert into account (id, email, credits, active_tasks, created_at)
    select 'acct_old' || n, n || '@old.example', ${pay} - 4 * ${TASKS_PER_ACCOUNT}, 0, now() from generate_series(1, ${accounts}) n`);
  await sql(`insert into credit_order (id, account_id, credits, created_at, paid_at)
    select 'ord_old' || n, 'acct_old' || n, ${pay}, now(), now() from generate_series(1, ${accounts}) n`);
  await sql(`insert into ledger_entry (account_id, kind, credits, order_id, at)
    select 'acct_old' || n, 'purchase', ${pay}, 'ord_old' || n, now() from generate_series(1, ${accounts}) n`);
  await sql(`insert into task (id, account_id, slug, resolution, prompt, image_urls, visibility, credits, state,
      reserved_at, submitted_at, upstream_task_id, succeeded_at, storage_status, temporary_url, image_name, native_width,
      native_height, fence)
    select 'pan_old' || md5(n::text), 'acct_old' || (n % ${accounts} + 1), substr(md5('slug' || n), 1, 16), '1k',
      'a lake at sunset, number ' || n || ', with mountains behind it and a small boat', '[]', 'private', 4, 'succeeded',
      now(), now(), 'upstream-' || md5(n::text), now(), 'saved',
      'https://provider.example/' || md5(n::text), 'panoramas/' || md5(n::text) || '.jpg', 1024, 512, 3
    from generate_series(1, ${finished}) n`);
  await sql(`insert into ledger_entry (account_id, kind, credits, task_id, at)
    select account_id, 'reservation', -4, id, now() from task`);
  await sql("vacuum analyze");
  if (given === undefined) await sql("checkpoint"); // its writes must not slow the measurement
};

/** Durations in milliseconds. */
type Durations = Record<"create" | "poll" | "work", number[]>;

/** One database and the durations of its calls. */
class MeasuredDatabase {
  readonly database: Database;
  readonly tasks: ReturnType<typeof sqlTasks>;
  readonly durations: Durations = { create: [], poll: [], work: [] };
  #last = 0;

  constructor(database: Database) {
    this.database = database;
    this.tasks = sqlTasks(database);
  }

  /** One call of each kind. */
  async measure(): Promise<void> {
    this.#last += 1;
    const task = aReservedTask({ id: taskId(this.#last) });
    await timed(this.durations.create, () => this.open(task));
    await timed(this.durations.poll, () => this.tasks.find(task.id, task.accountId));
    const submitted = submit(task, `upstream-${this.#last}`, noon);
    await this.tasks.move(task, submitted, noon);
    // One round of each background work; one task is due, and it ends.
    await timed(this.durations.work, async () => {
      await this.tasks.forgetIdempotencyKeys(noon);
      await this.tasks.claim("sweep", noon, secondsAfter(noon, 60), 16);
      await this.tasks.claim("keep", noon, secondsAfter(noon, 60), 4);
      const [lease] = await this.tasks.claim("settle", noon, secondsAfter(noon, 60), 16);
      if (lease === undefined) throw new Error("the task is due, but was not claimed");
      await this.tasks.move(lease, fail(submitted, "generation_failed", noon), undefined);
    });
  }

  private open(task: ReservedTask) {
    return this.tasks.open({
      account: task.accountId,
      dueAt: noon,
      decide: (standing) => openATask(standing, task, noon),
    });
  }
}

const timed = async (into: number[], work: () => Promise<unknown>): Promise<void> => {
  const started = performance.now();
  await work();
  into.push(performance.now() - started);
};

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;

const prepare = async (server: string, name: string, finished: number): Promise<MeasuredDatabase> => {
  await administer(server, `drop database if exists ${name}`);
  await administer(server, `create database ${name}`);
  const url = databaseUrl(server, name);
  await migratePostgresDatabase(url);
  await seed(url, finished);
  const database = await openPostgresDatabase(url, 2);
  const order = aPaidOrder({ credits: credits(1_000_000) });
  await new SqlAccountStore(database).open(anAccount(), { order });
  return new MeasuredDatabase(database);
};

const given = process.env.TEST_POSTGRES_URL;
const server = given === undefined ? await PostgresServer.start({ sharedBuffers: SHARED_BUFFERS }) : undefined;
const url = server?.url ?? given ?? "";
const few = await prepare(url, "growth_few", FEW);
const many = await prepare(url, "growth_many", MANY);

for (let call = 0; call < WARM_UP_CALLS + CALLS; call += 1) {
  for (const measured of call % 2 === 0 ? [few, many] : [many, few]) await measured.measure();
  if (call >= WARM_UP_CALLS) continue;
  for (const { durations } of [few, many]) for (const numbers of Object.values(durations)) numbers.length = 0;
}

let isTooSlow = false;
console.log(`medians of ${CALLS} calls, in ms   ${FEW} finished   ${MANY} finished   ratio`);
for (const name of ["create", "poll", "work"] as const) {
  const [a, b] = [median(few.durations[name]), median(many.durations[name])];
  isTooSlow ||= b > a * SLOWDOWN_MAX;
  console.log(
    `${name.padEnd(32)} ${a.toFixed(3).padStart(13)} ${b.toFixed(3).padStart(18)} ${(b / a).toFixed(2).padStart(7)}`,
  );
}

const sizes = await many.database.sql(
  `select relname, pg_table_size(oid) as rows, pg_indexes_size(oid) as indexes from pg_class
  where relkind = 'r' and relname in ('task', 'ledger_entry') order by relname`,
);
for (const { relname, rows, indexes } of sizes) {
  console.log(`${relname}: ${megabytes(rows)} of rows, ${megabytes(indexes)} of indexes for ${MANY} tasks`);
}

await few.database.close();
await many.database.close();
await server?.remove();
process.exit(isTooSlow ? 1 : 0);

function megabytes(bytes: unknown): string {
  return `${Math.round(Number(bytes) / 1e6)} MB`;
}
