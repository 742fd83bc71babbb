import { randomUUID } from "node:crypto";
import { openPostgresDatabase } from "../../adapters/persistence/database/postgres/open-postgres-database.js";
import type { PostgresDatabase } from "../../adapters/persistence/database/postgres/postgres-database.js";
import type { Database } from "../../adapters/persistence/database/sql/database.js";
import { ledger } from "../../application/credits/ledger.js";
import type { AccountId } from "../../domain/ids.js";
import { accountsWithKeys } from "./accounts-with-keys.js";
import { migratedInstallation } from "./migrated-installation.js";
import { Installation } from "./service-process.js";
import { sqlStores } from "./sql-stores.js";

const KEYS = 6;
const FLEET_CREDITS = 1_000;

/** After the last kill: leases of deliveries expire after 20 seconds. */
const DEADLINE_MILLISECONDS = 180_000;

/** A customer with several keys; `nextKey` takes turns, so that no test reaches a key's rate limit. */
export type Customer = { readonly id: AccountId; nextKey(): string };

/** Three service processes that share a PostgreSQL database and a data directory. */
export class Fleet {
  readonly instances: readonly Installation[];
  readonly database: PostgresDatabase;

  private constructor(instances: readonly Installation[], database: PostgresDatabase) {
    this.instances = instances;
    this.database = database;
  }

  /** On a migrated database. `more`: further environment variables of the instances. */
  static async start(databaseUrl: string, more: Readonly<Record<string, string>> = {}): Promise<Fleet> {
    const environment = {
      DATABASE_URL: databaseUrl,
      // As behind one proxy: all instances issue and accept the same URLs.
      PUBLIC_URL: "https://panorama.example",
      DEMO: "false",
      LEASE_MS: "1000",
      SUBMIT_TIMEOUT_MS: "1000",
      LOCAL_PROVIDER_DELAY_MS: "300",
      ...more,
    };
    const first = await migratedInstallation(environment);
    const shared = { ...environment, DATA_DIR: first.dataDir };
    const instances = [first, await Installation.create(shared), await Installation.create(shared)];
    const fleet = new Fleet(instances, await openPostgresDatabase(databaseUrl, 2));
    try {
      await Promise.all(instances.map((instance) => instance.start()));
      return fleet;
    } catch (error) {
      await fleet.remove();
      throw error;
    }
  }

  async customers(count: number): Promise<Customer[]> {
    const accounts = await accountsWithKeys(this.database, count, FLEET_CREDITS, KEYS);
    return accounts.map(({ id, keys }) => {
      let used = 0;
      return { id, nextKey: () => keys[used++ % KEYS]?.secret ?? "" };
    });
  }

  /**
   * Creates one task as a careful client does: retries with the same idempotency key after every temporary failure.
   * Each attempt goes to the given instance, or to a random one. Resolves to the task's id.
   */
  async create(customer: Customer, prompt: string, target?: Installation): Promise<string> {
    const idempotencyKey = randomUUID();
    for (;;) {
      const instance = target ?? this.instances[Math.floor(Math.random() * this.instances.length)];
      const answer = await fetch(`${instance?.url}/api/v1/panoramas`, {
        method: "POST",
        headers: { authorization: `Bearer ${customer.nextKey()}`, "idempotency-key": idempotencyKey },
        body: JSON.stringify({ prompt, resolution: "1k" }),
        signal: AbortSignal.timeout(10_000),
      }).then(
        async (response) => ({ status: response.status, body: (await response.json()) as { id: string } }),
        () => undefined, // the instance is killed or paused
      );
      if (answer?.status === 202) return answer.body.id;
      if (answer !== undefined && ![429, 500, 502].includes(answer.status)) {
        throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      }
      await pause(200);
    }
  }

  /** All tasks and ledger entries as rows, and what `verifyLedger` finds. */
  async ledgers() {
    return {
      tasks: await this.database.sql("select * from task order by id"),
      entries: await this.database.sql("select * from ledger_entry order by id"),
      findings: (await ledger(sqlStores(this.database)).verifyLedger()).findings,
    };
  }

  /** How often each task was submitted to the provider, according to the logs of all instances. */
  submissions(): Map<string, number> {
    const times = new Map<string, number>();
    for (const line of this.instances.flatMap(({ log }) => log.split("\n"))) {
      const [, taskId] = /"event":"(?:task_submitted|submission_recovered)".*"taskId":"(\w+)"/.exec(line) ?? [];
      if (taskId !== undefined) times.set(taskId, (times.get(taskId) ?? 0) + 1);
    }
    return times;
  }

  async remove(): Promise<void> {
    await Promise.all(this.instances.map((instance) => instance.end("SIGKILL"))); // they share a folder
    for (const instance of this.instances) await instance.remove();
    await this.database.close();
  }
}

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits until no task is in progress, no image is being stored, and nothing is to be delivered. */
export const untilDelivered = async (sql: Database["sql"]): Promise<void> => {
  for (const deadline = Date.now() + DEADLINE_MILLISECONDS; ; await pause(500)) {
    const tasks = await sql(
      "select id, state, due_at, fence from task where state not in ('succeeded', 'failed') or storage_status = 'uploading'",
    );
    const deliveries = await sql("select id, detail, fence from webhook_delivery where due_at is not null");
    if (tasks.length + deliveries.length === 0) return;
    if (Date.now() > deadline) throw new Error(`still waiting: ${JSON.stringify([tasks, deliveries])}`);
  }
};
