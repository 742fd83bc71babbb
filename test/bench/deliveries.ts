import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ok } from "neverthrow";
import { accountId, anAccount, anEndpoint, endpointId } from "../../adapters/contracts/support/builders.js";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { migratePostgresDatabase } from "../../adapters/persistence/schema/migrate-postgres.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { startLocalServer } from "../support/local-server.js";
import { PostgresServer } from "../support/postgres.js";
import { Installation } from "../support/service-process.js";
import { type AnyDatabase, sqlStores } from "../support/sql-stores.js";

/*
 * Measures how fast one instance delivers 10,000 events: `npm run bench deliveries`, with `-- --postgres` for
 * PostgreSQL instead of SQLite, `-- --events 1000` for a quick run. The service runs in a child process, the receivers
 * in this one.
 */

const ENDPOINTS = [100, 1];
const DEADLINE_SECONDS = 300;

const { values: options } = parseArgs({
  options: { events: { type: "string", default: "10000" }, postgres: { type: "boolean", default: false } },
});
const events = Number(options.events);

/**
 * Finished tasks with an event each, and a delivery of each that is due, over `endpoints` accounts with an endpoint.
 */
const seed = async (database: AnyDatabase, origin: string, endpoints: number): Promise<void> => {
  const stores = sqlStores(database);
  for (let n = 1; n <= endpoints; n += 1) {
    await stores.accounts.open(anAccount({ id: accountId(n) }));
    const endpoint = anEndpoint({ id: endpointId(n), accountId: accountId(n), url: `${origin}/${n}` });
    await stores.endpoints.insert(endpoint, () => ok(undefined));
  }
  const { sql, dialect } = database;
  const at = dialect === "postgresql" ? "now()" : String(Date.now());
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${events})`;
  const ids = "select id, row_number() over (order by id) - 1 as n, count(*) over () as all_of_them from account";
  const owner = `join (${ids}) as owner on owner.n = numbers.n % owner.all_of_them`;
  await sql(`${numbers} insert into task (id, account_id, slug, resolution, prompt, image_urls, visibility, credits, state,
      reserved_at, failed_at, failure_reason, fence)
    select 'pan_' || numbers.n, owner.id, 's' || numbers.n, '1k', 'a lake at sunset', '[]', 'private', 4, 'failed',
      ${at}, ${at}, 'refused', 0
    from numbers ${owner}`);
  await sql(`${numbers} insert into event (account_id, number, type, task_id, at)
    select owner.id, numbers.n, 'panorama.failed', 'pan_' || numbers.n, ${at} from numbers ${owner}`);
  await sql(`insert into webhook_delivery (endpoint_id, account_id, number, task_id, lane, state, attempts, due_at, fence)
    select webhook_endpoint.id, event.account_id, number, task_id, webhook_endpoint.id, 'pending', 0, at, 0
    from event join webhook_endpoint on webhook_endpoint.account_id = event.account_id`);
};

const measure = async (endpoints: number): Promise<void> => {
  const received = new Set<string>();
  let [first, last] = [0, 0];
  const receiver = await startLocalServer((request, response) => {
    request.resume();
    received.add(String(request.headers["webhook-id"]));
    last = performance.now();
    if (first === 0) first = last;
    response.writeHead(204).end();
  });
  const postgres = options.postgres ? await PostgresServer.start({ durable: true }) : undefined;
  if (postgres !== undefined) await migratePostgresDatabase(postgres.url);
  const service = await Installation.create({
    ...(postgres && { DATABASE_URL: postgres.url }),
    DEMO: "false",
    WEBHOOK_PRIVATE_ORIGINS: receiver.origin,
  });
  try {
    const database = await (postgres === undefined
      ? openSqliteDatabase(join(service.dataDir, "panorama.sqlite"))
      : openPostgresDatabase(postgres.url, 2));
    await seed(database, receiver.origin, endpoints);
    await service.start();
    for (let seconds = 0; received.size < events; seconds += 1) {
      if (seconds > DEADLINE_SECONDS) throw new Error(`only ${received.size} events were delivered`);
      await setTimeout(1_000);
    }
    await service.end("SIGTERM"); // records the last results
    const left = await database.sql("select id from webhook_delivery where state <> 'delivered'");
    if (left.length > 0) throw new Error(`${left.length} deliveries are not recorded as delivered`);
    await database.close();
    const seconds = (last - first) / 1000;
    const rate = Math.round(events / seconds);
    console.log(`${events} events to ${endpoints} endpoints: ${seconds.toFixed(1)} s, ${rate} per second`);
  } finally {
    await service.remove();
    await postgres?.remove();
    await receiver.close();
  }
};

for (const endpoints of ENDPOINTS) await measure(endpoints);
