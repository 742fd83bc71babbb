import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgresDatabase } from "../../adapters/persistence/postgres/open-postgres-database.js";
import { openSqliteDatabase } from "../../adapters/persistence/sqlite/open-sqlite-database.js";
import { readUsage } from "../../application/operators/read-usage.js";
import type { UsagePart } from "../../application/ports/stores/usage-store.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { migratedInstallation } from "../support/migrated-installation.js";
import { administer, freshDatabase } from "../support/postgres.js";
import type { Installation } from "../support/service-process.js";
import { type AnyDatabase, sqlStores } from "../support/sql-stores.js";

const ACCOUNTS = 900;
const DAYS = 300;
const TASKS_A_DAY = 150;
const TASKS = DAYS * TASKS_A_DAY;
/** Of the time of a command that reads one row, most of which is its start. */
const TIMES_MAX_OF_ALL = 4;
/** A day is one of 300: without an index, it would take as long as all of them. */
const SHARE_MAX_OF_A_DAY = 1 / 10;

const numbers = (count: number) =>
  `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})`;

/** 150 tasks on each of 300 days from 2026-01-01 on. Every tenth has failed; they cost 0.04 USD or 0.05 EUR. */
const rows = (dialect: "sqlite" | "postgresql"): string[] => {
  const day = `((n - 1) / ${TASKS_A_DAY})`;
  const at =
    dialect === "sqlite"
      ? `(1767268800000 + ${day} * 86400000)`
      : `(timestamp with time zone '2026-01-01T12:00:00Z' + ${day} * interval '1 day')`;
  const account = `'acc_' || (n % ${ACCOUNTS})`;
  const start = dialect === "sqlite" ? "1767268800000" : "timestamp with time zone '2026-01-01T12:00:00Z'";
  return [
    `${numbers(ACCOUNTS)} insert into account (id, email, credits, active_tasks, created_at)
      select ${account}, n || '@example.com', 0, 0, ${start} from numbers`,
    `${numbers(TASKS)} insert into task (id, account_id, slug, resolution, prompt, image_urls, visibility, credits, state,
      reserved_at, failed_at, failure_reason, submitted_at, upstream_task_id, succeeded_at, temporary_url, image_name,
      storage_status, fence, place, api_key_id, cost_micros, cost_currency)
    select 'pan_' || n, ${account}, 's' || n, '1k', 'a lake between mountains ' || n, '[]', 'private', 4,
      case when n % 10 = 0 then 'failed' else 'succeeded' end, ${at}, case when n % 10 = 0 then ${at} end,
      case when n % 10 = 0 then 'unusable_result' end, ${at}, 'upstream', ${at}, 'https://p.example/1', 'panoramas/' || n,
      'saved', 1, 'fal:' || (n % 3), 'key_' || (n % ${ACCOUNTS}), case when n % 2 = 0 then 40000 else 50000 end,
      case when n % 2 = 0 then 'USD' else 'EUR' end from numbers`,
  ];
};

describe.each(["sqlite", "postgresql"] as const)("panorama usage with 45,000 tasks on %s", (dialect) => {
  let installation: Installation;
  let database: AnyDatabase;

  beforeAll(async () => {
    const url = dialect === "postgresql" ? await freshDatabase() : undefined;
    installation = await migratedInstallation({ DEMO: "false", ...(url !== undefined && { DATABASE_URL: url }) });
    const file = join(installation.dataDir, "panorama.sqlite");
    database = url === undefined ? await openSqliteDatabase(file) : await openPostgresDatabase(url, 1);
    const run = (statement: string) => (url === undefined ? database.sql(statement) : administer(url, statement)); // without the time limit of a request
    for (const statement of [...rows(dialect), "analyze"]) await run(statement);
  });
  afterAll(async () => {
    await database.close();
    await installation.remove();
  });

  /** The result, and the shortest time of several, because others use the machine. */
  const timed = async <Result>(
    runs: number,
    run: () => Promise<Result>,
  ): Promise<[result: Result, milliseconds: number]> => {
    const times: number[] = [];
    for (let n = 1; ; n += 1) {
      const start = performance.now();
      const result = await run();
      times.push(performance.now() - start);
      if (n === runs) return [result, Math.min(...times)];
    }
  };

  const costsOf = (tasks: number) => [
    { currency: "EUR", micros: tasks * 25_000 },
    { currency: "USD", micros: tasks * 20_000 },
  ];
  const sumsOf = (tasks: number) => ({ succeeded: tasks * 0.9, failed: tasks * 0.1, charged: 4 * tasks * 0.9 });

  it("reads one day in a small part of the time of all, by any part", async () => {
    const read = readUsage(sqlStores(database), { policy: PANORAMA_POLICY });
    const of = (from: string, to: string, by: UsagePart) => () =>
      read({ from: new Date(`${from}T00:00:00Z`), to: new Date(`${to}T00:00:00Z`), by });
    const counts = { day: DAYS, account: ACCOUNTS, key: ACCOUNTS, resolution: 1, provider: 3 };
    for (const [part, count] of Object.entries(counts)) {
      const by = part as UsagePart;
      // A command reads one period. In one process, SQLite could keep the plan of the longer one for the shorter one.
      const [day, dayMilliseconds] = await timed(10, of("2026-05-01", "2026-05-02", by));
      const [all, allMilliseconds] = await timed(1, of("2026-01-01", "2027-01-01", by));
      console.log(
        `usage by ${by} on ${dialect}: ${allMilliseconds.toFixed()} ms, a day ${dayMilliseconds.toFixed()} ms`,
      );
      expect(all.rows).toHaveLength(count);
      expect(all.total).toMatchObject({ ...sumsOf(TASKS), costs: costsOf(TASKS) });
      expect(day.total).toMatchObject({ ...sumsOf(TASKS_A_DAY), costs: costsOf(TASKS_A_DAY) });
      expect(dayMilliseconds).toBeLessThan(SHARE_MAX_OF_A_DAY * allMilliseconds);
    }
  });

  it("sums all of them in a few times what a command takes that reads one row", async () => {
    const [, one] = await timed(3, () => installation.command("account", "show", "--account", "acc_1"));
    const period = ["--from", "2026-01-01", "--to", "2026-12-31"];
    const [{ json }, all] = await timed(3, () => installation.command("usage", ...period, "--by", "account"));
    console.log(
      `panorama usage --by account on ${dialect}: ${all.toFixed()} ms, of which a start takes ${one.toFixed()}`,
    );
    expect(json.total).toMatchObject({ panoramas: TASKS * 0.9, failed: TASKS * 0.1 });
    expect(all).toBeLessThan(TIMES_MAX_OF_ALL * one);
  });
});
