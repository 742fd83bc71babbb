import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { PostgresServer } from "../support/postgres.js";
import { buildRelease, releaseRef } from "../support/release.js";
import { Installation } from "../support/service-process.js";

/*
 * A rolling upgrade: `npm run verify upgrade`, with `-- --from REF` to upgrade from something else than the last
 * released tag. An instance of the release and one of this version run on one PostgreSQL while creations go on and both
 * sell credits; then the older one stops. Fails if a creation is lost, a task does not end, or the ledger is not exact.
 * Needs the history of git, and the network for the packages of the release if they differ from these.
 */

const CUSTOMERS = 5;
const CREDITS = 10_000;
const PHASE_MILLISECONDS = 15_000;
/** Between two creations with one key: the rate limit admits ten in a minute. */
const CREATION_MILLISECONDS = 6_500;
const RETRY_MILLISECONDS = 300;
const END_SECONDS = 90;
/** Every tenth creation becomes a panorama; the others fail and are refunded. */
const promptOf = (n: number): string => (n % 10 === 0 ? "a foggy ocean" : "a lake test:fail");

const { values } = parseArgs({ options: { from: { type: "string" } } });
type Created = { readonly id: string; readonly key: string };

const ref = releaseRef(values.from);
console.log(`from ${ref}`);
const folder = buildRelease(ref);
const server = await PostgresServer.start();
const dataDir = mkdtempSync(join(tmpdir(), "panorama-upgrade-"));
const environment = {
  DATABASE_URL: server.url,
  DATA_DIR: dataDir,
  PUBLIC_URL: "https://panorama.example",
  DEMO: "false",
  LEASE_MS: "1000",
  LOCAL_PROVIDER_DELAY_MS: "300",
};
const older = await Installation.create(environment, join(folder, "dist/bootstrap/panorama.cjs"));
const newer = await Installation.create(environment);
const problems: string[] = [];
const created: Created[] = [];
/** The last answers to creations that were not accepted in time. */
const lost: string[] = [];

/** Creates tasks one after the other at a random instance, with a retry of the same creation after each failure. */
const load = async (
  keys: readonly string[],
  instances: readonly Installation[],
  milliseconds: number,
): Promise<void> => {
  const end = Date.now() + milliseconds;
  await Promise.all(
    keys.map(async (key) => {
      while (Date.now() < end) {
        const id = await create(key, instances);
        if (id !== undefined) created.push({ id, key });
        await setTimeout(CREATION_MILLISECONDS);
      }
    }),
  );
};

const create = async (key: string, instances: readonly Installation[]): Promise<string | undefined> => {
  const idempotencyKey = randomUUID();
  let last = "no answer";
  const body = JSON.stringify({ prompt: promptOf(created.length), resolution: "1k" });
  let pause = RETRY_MILLISECONDS;
  for (const end = Date.now() + 30_000; Date.now() < end; await setTimeout(pause)) {
    const instance = instances[Math.floor(Math.random() * instances.length)] as Installation;
    const answer = await fetch(`${instance.url}/api/v1/panoramas`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "idempotency-key": idempotencyKey },
      body,
    }).catch(() => undefined);
    if (answer?.status === 202) return ((await answer.json()) as { id: string }).id;
    last = answer === undefined ? "no answer" : `${answer.status} ${await answer.text()}`;
    if (answer !== undefined && answer.status !== 429) problems.push(last);
    // A refusal because of too many active tasks counts as a request, too.
    pause = answer?.status === 429 ? CREATION_MILLISECONDS : RETRY_MILLISECONDS;
  }
  lost.push(last);
  return undefined;
};

/**
 * Each version sells credits, gives some and takes some; the newer one takes credits of all orders back, more than are
 * left of those of the first customer. That debt is paid by the next purchase of the newer one.
 */
const trade = async (accounts: readonly string[]): Promise<void> => {
  const run = async (installation: Installation, ...args: string[]) => {
    const { status, json, stderr } = await installation.command(...args);
    if (status !== 0) problems.push(`${args.join(" ")}: ${stderr}`);
    return json;
  };
  for (const [n, account] of accounts.entries()) {
    const of = (credits: number) => ["--account", account, "--credits", String(credits)];
    for (const installation of [older, newer]) {
      const order = String((await run(installation, "order", "create", ...of(50), "--paid")).order_id);
      await run(installation, "credits", "grant", ...of(3), "--reason", "goodwill");
      if (n === 0)
        await run(installation, "credits", "take", ...of((await balanceOf(account)) - 5), "--reason", "spent");
      const refund = ["order", "refund", "--order", order, "--reason", "returned"];
      const { debt } = await run(newer, ...refund, ...(n === 0 ? [] : ["--credits", "20"]));
      if (n === 0 && debt !== 45) problems.push(`the debt after ${order} is ${debt}, not 45`);
      if (n === 0) await run(newer, "order", "create", ...of(100), "--paid");
    }
  }
};

/** An account that creates nothing, so that its debt is known. */
const idle = async (): Promise<string> => {
  const opened = await older.command("account", "create", "--email", "idle@example.com", "--credits", "10");
  return String(opened.json.account_id);
};

const balanceOf = async (account: string): Promise<number> =>
  Number((await newer.command("account", "show", "--account", account)).json.credits);

try {
  const migrated = await older.command("migrate");
  if (migrated.status !== 0) throw new Error(`the release cannot migrate: ${migrated.stderr}`);
  const keys: string[] = [];
  const accounts: string[] = [];
  for (let n = 1; n <= CUSTOMERS; n += 1) {
    const email = `customer-${n}@example.com`;
    const opened = await older.command(
      ...["account", "create", "--email", email, "--credits", String(CREDITS), "--key"],
    );
    const account = String(opened.json.account_id);
    accounts.push(account);
    keys.push(String(opened.json.api_key));
    for (let more = 0; more < 3; more += 1) {
      keys.push(String((await older.command("key", "create", "--account", account)).json.api_key));
    }
  }
  await older.start();
  await load(keys, [older], PHASE_MILLISECONDS);
  const before = created.length;

  const [upgraded] = await Promise.all([newer.command("migrate"), load(keys, [older], PHASE_MILLISECONDS)]);
  if (upgraded.status !== 0) throw new Error(`this version cannot migrate: ${upgraded.stderr}`);
  await newer.start();
  await Promise.all([load(keys, [older, newer], 2 * PHASE_MILLISECONDS), trade([await idle(), ...accounts])]);
  const together = created.length - before;
  const leaving = older.end("SIGTERM");
  await load(keys, [newer], PHASE_MILLISECONDS);
  if ((await leaving) !== 0) problems.push(`the older instance ended with ${await leaving}`);

  const database = await openPostgresDatabase(server.url, 2);
  const ended = "state in ('succeeded', 'failed') and storage_status is distinct from 'uploading'";
  const unfinished = () => database.sql(`select id, state from task where not (${ended})`);
  for (let seconds = 0; (await unfinished()).length > 0 && seconds < END_SECONDS; seconds += 1) await setTimeout(1_000);
  for (const { id, state } of await unfinished()) problems.push(`task ${id} is still ${state}`);
  const known = new Set((await database.sql("select id from task")).map(({ id }) => id));
  for (const { id } of created.filter(({ id }) => !known.has(id))) problems.push(`task ${id} is lost`);
  const [{ failures } = { failures: 0 }] = await database.sql(
    "select count(*)::int as failures from task where state = 'failed' and prompt not like '%test:fail'",
  );
  if (failures !== 0) problems.push(`${failures} panoramas failed`);
  const [{ silent } = { silent: 0 }] = await database.sql(
    `select count(*)::int as silent from task where ${ended}
    and not exists (select 1 from event where event.task_id = task.id and event.type <> 'panorama.saved')`,
  );
  await database.close();
  for (const answer of lost) problems.push(`a creation was not accepted within 30 seconds: ${answer}`);
  const verified = await newer.command("ledger", "verify");
  if (verified.status !== 0) problems.push(`ledger: ${JSON.stringify(verified.json)}`);
  console.log(
    `${created.length} creations, ${together} of them while the tables were migrated and with both versions; ` +
      `${silent} ended without an event, because the older version ended them or the database was not migrated yet`,
  );
} finally {
  await older.remove();
  await newer.remove();
  await server.remove();
  for (const path of [folder, dataDir]) rmSync(path, { recursive: true, force: true });
}
for (const problem of new Set(problems)) console.error(`FAILED: ${problem}`);
process.exit(problems.length > 0 ? 1 : 0);
