// Our SQL stores in the databases that a service already has, next to its own tables: DATABASE_URL=postgres://… node
// sql.js
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { DatabaseSync } from "@photostructure/sqlite";
import {
  accountId,
  createPanorama,
  credits,
  definePolicy,
  err,
  type GenerationProvider,
  generationTime,
  idempotencyKey,
  meter,
  ok,
  orderId,
  PANORAMA_POLICY,
  parseCreationRequest,
  parseEmail,
  slugFrom,
  taskId,
} from "panorama-service";
import { MemoryObjectStorage } from "panorama-service/adapters/memory";
import {
  type Installation,
  migrate,
  openDatabase,
  SqlMeterStore,
  sqlStores,
} from "panorama-service/adapters/persistence";
import { Pool } from "pg";

const clock = {
  now: () => new Date(),
  sleep: (milliseconds: number) => new Promise<void>((end) => setTimeout(end, milliseconds)),
};
const ids = { taskId: () => taskId(randomUUID()), slug: () => slugFrom(randomBytes(16)) };
const customer = accountId("customer-1");

/** Credits and limits for PDF files. The same call after a crash finds the same hold. */
const printPdf = async (store: SqlMeterStore): Promise<number> => {
  const policy = definePolicy({ prices: { print: 3 }, rates: {}, activeMax: 2 });
  const pdf = meter({ policy, store });
  await pdf.purchase(customer, { orderId: orderId("order-1"), credits: credits(10) });
  const held = await pdf.hold(customer, { price: "print", idempotencyKey: idempotencyKey("page-1") });
  if (held.isErr()) throw new Error(held.error.kind);
  await held.value.capture();
  return pdf.balance(customer);
};

/** Your model. This one accepts everything and is never ready. */
const provider: GenerationProvider = {
  name: "own",
  places: () => [{ name: "own", concurrencyMax: undefined, readiness: "ready", canMake: () => true }],
  callsPerSecond: undefined,
  readiness: () => "ready",
  nextPollMilliseconds: () => 1_000,
  checkRequest: () => ok(undefined),
  submit: async ({ taskId: id }) => ok(`upstream-${id}`),
  poll: async () => ok({ state: "running" }),
  // "There is none" would send the order again, and pay for it twice.
  search: async () => err({ kind: "provider_unavailable", reason: "this model cannot be searched" }),
  download: async () => err({ kind: "provider_unavailable", reason: "this example has no pictures" }),
};

/** The use case of a creation, with the SQL stores. */
const makePanorama = async (stores: ReturnType<typeof sqlStores>): Promise<string> => {
  const email = parseEmail("customer@example.com");
  if (email.isErr()) throw new Error(JSON.stringify(email.error));
  const createdAt = clock.now();
  const order = { id: orderId("order-1"), accountId: customer, credits: credits(10), createdAt };
  const account = { id: customer, email: email.value, createdAt };
  await stores.accounts.open(account, { order: { ...order, state: "paid", paidAt: createdAt } });

  const request = parseCreationRequest({ prompt: "a quiet lake at sunset", resolution: "1k" });
  if (request.isErr()) throw new Error(JSON.stringify(request.error));
  const create = createPanorama(
    {
      ...stores,
      provider,
      ids,
      clock,
      secrets: { sha256: (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex") },
      signals: { announce: () => {} },
      storage: new MemoryObjectStorage(),
      reporter: { report: () => {} },
      generationTime: generationTime(),
    },
    {
      policy: PANORAMA_POLICY,
      submissionDeadlineMilliseconds: 35_000,
      queueDeadlineMilliseconds: 600_000,
      queueMax: 1_000,
    },
  );
  const created = await create(customer, request.value);
  if (created.isErr()) throw new Error(created.error.kind);
  const found = await stores.tasks.find(created.value.task.id, customer);
  return `${found?.state}, ${await stores.ledger.balance(customer)} credits`;
};

const use = async (installation: Installation): Promise<readonly [number, string]> => {
  await migrate(installation);
  const database = await openDatabase(installation);
  return [await printPdf(new SqlMeterStore(database, ids)), await makePanorama(sqlStores(database))];
};

// PostgreSQL: your pool, and a schema for our tables.
const pool = new Pool({
  connectionString: process.env.DATABASE_URL,
  statement_timeout: 4_000,
  query_timeout: 5_000,
  connectionTimeoutMillis: 3_000,
});
pool.on("error", (error) => console.error(error.message)); // a connection of the pool was lost
await pool.query("create table account (id int primary key, name text not null)");
await pool.query("insert into account values (1, 'a row of yours')");
const onPostgres = await use({ pool, schema: "panorama", tables: ["meter", "panoramas"] });
const yours = await pool.query<{ name: string }>("select name from account");
await pool.end();

// SQLite: your connection, and a prefix for our tables.
const sqlite = new DatabaseSync("own.sqlite");
sqlite.exec("create table account (id integer primary key, name text not null)");
sqlite.exec("insert into account (name) values ('a row of yours')");
const onSqlite = await use({ sqlite, prefix: "panorama_", tables: ["meter", "panoramas"] });
const row = sqlite.prepare("select count(*) as rows from account").get();
sqlite.close();

console.log(JSON.stringify([onPostgres, yours.rows, onSqlite, row]));
