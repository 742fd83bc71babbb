import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migratedInstallation } from "../support/migrated-installation.js";
import { administer, freshDatabase } from "../support/postgres.js";
import type { Installation } from "../support/service-process.js";

const ACCOUNTS = 5_000;
const TASKS_OF_EACH = 10;
const TASKS_OF_ONE = 60_000;
/** Resident at most, of the whole process. A command that reads one row has 72 MiB. Needs Linux. */
const MEMORY_KIBIBYTES = 220 * 1024;

const numbers = (count: number) =>
  `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})`;
const LATER = { sqlite: "1767268800000", postgresql: "timestamp with time zone '2026-01-01T12:00:00Z'" };

/** Accounts that have bought 1000 credits each, with finished tasks at 4 credits, every tenth of which has failed. */
const rows = (dialect: "sqlite" | "postgresql"): string[] => {
  const at = LATER[dialect];
  const padded = (value: string) =>
    dialect === "sqlite" ? `printf('%07d', ${value})` : `lpad((${value})::text, 7, '0')`;
  const tasks = (count: number, account: string, prefix: string) => [
    `${numbers(count)} insert into task (id, account_id, slug, resolution, prompt, image_urls, visibility, credits, state,
      reserved_at, failed_at, failure_reason, submitted_at, upstream_task_id, succeeded_at, temporary_url, image_name,
      storage_status, fence)
    select '${prefix}' || ${padded("n")}, ${account}, '${prefix}' || n, '1k', 'a lake', '[]', 'private', 4,
      case when n % 10 = 0 then 'failed' else 'succeeded' end, ${at}, case when n % 10 = 0 then ${at} end,
      case when n % 10 = 0 then 'refused' end, ${at}, 'upstream', ${at}, 'https://p.example/1', 'panoramas/' || '${prefix}' || n,
      'saved', 1 from numbers`,
  ];
  const of = `'acc_' || ${padded(`(n + ${TASKS_OF_EACH - 1}) / ${TASKS_OF_EACH}`)}`;
  const cost = (count: number) => 4 * (count - count / 10);
  return [
    `${numbers(ACCOUNTS)} insert into account (id, email, credits, active_tasks, created_at)
      select 'acc_' || ${padded("n")}, n || '@example.com', 1000 - ${cost(TASKS_OF_EACH)}, 0, ${at} from numbers`,
    `insert into account (id, email, credits, active_tasks, created_at)
      values ('acc_one', 'one@example.com', 1000000 - ${cost(TASKS_OF_ONE)}, 0, ${at})`,
    `insert into credit_order (id, account_id, credits, created_at, paid_at)
      select 'ord_' || id, id, case when id = 'acc_one' then 1000000 else 1000 end, ${at}, ${at} from account`,
    ...tasks(ACCOUNTS * TASKS_OF_EACH, of, "pan_s"),
    ...tasks(TASKS_OF_ONE, "'acc_one'", "pan_b"),
    `insert into ledger_entry (account_id, kind, credits, order_id, at)
      select account_id, 'purchase', credits, id, ${at} from credit_order`,
    `insert into ledger_entry (account_id, kind, credits, task_id, at)
      select account_id, 'reservation', -4, id, ${at} from task`,
    `insert into ledger_entry (account_id, kind, credits, task_id, at)
      select account_id, 'refund', 4, id, ${at} from task where state = 'failed'`,
  ];
};

describe.each(["sqlite", "postgresql"] as const)("commands with 110,000 tasks on %s", (dialect) => {
  let installation: Installation;
  let run: (statement: string) => Promise<unknown>;
  let memoryFile: string;

  beforeAll(async () => {
    const url = dialect === "postgresql" ? await freshDatabase() : undefined;
    installation = await migratedInstallation({ DEMO: "false", ...(url !== undefined && { DATABASE_URL: url }) });
    run = url === undefined ? onSqlite(join(installation.dataDir, "panorama.sqlite")) : (sql) => administer(url, sql);
    for (const statement of rows(dialect)) await run(statement);
    if (url !== undefined) await run("analyze");
    memoryFile = join(installation.dataDir, "memory.txt");
    const preload = join(installation.dataDir, "memory.cjs");
    // Not `maxRSS`: a process begins with that of the process that has started it, here a worker with all test files.
    const script = `const { readFileSync, writeFileSync } = require("fs");
      const peak = () => readFileSync("/proc/self/status", "utf8").match(/VmHWM:\\s*(\\d+) kB/)[1];
      process.on("exit", () => writeFileSync(${JSON.stringify(memoryFile)}, peak()));`;
    await writeFile(preload, script);
    installation.environment.NODE_OPTIONS = `--require ${preload}`;
  });
  afterAll(() => installation.remove());

  const onSqlite = (file: string) => async (statement: string) => {
    const database = new DatabaseSync(file);
    database.exec(statement);
    database.close();
  };
  const timed = async (...args: string[]) => {
    const start = performance.now();
    const outcome = await installation.command(...args);
    return { outcome, milliseconds: performance.now() - start };
  };
  /**
   * Runs a command; what it took is compared with the limits. The limit of its time is so many times what a command
   * takes that reads one row, on the same machine.
   */
  const measured = async (timesMax: number, ...args: string[]) => {
    const small = await timed("account", "show", "--account", "acc_0000001");
    const { outcome, milliseconds } = await timed(...args);
    const memory = Number(await readFile(memoryFile, "utf8"));
    expect(milliseconds).toBeLessThan(timesMax * small.milliseconds);
    expect(memory).toBeLessThan(MEMORY_KIBIBYTES);
    return outcome;
  };

  it("ledger verify needs seconds and little memory, and continues after an unreadable row", async () => {
    await run("update task set state = 'strange' where id = 'pan_s0000005'");
    await run("update account set credits = credits + 1 where id = 'acc_0005000'");
    const { status, json } = await measured(250, "ledger", "verify");
    await run("update task set state = 'succeeded' where id = 'pan_s0000005'");
    await run("update account set credits = credits - 1 where id = 'acc_0005000'");
    expect(status).toBe(1);
    expect(json).toEqual({
      accounts: ACCOUNTS + 1,
      findings: [
        'account acc_0000001: row pan_s0000005: column state cannot be "strange"',
        "account acc_0005000: the balance is 965, but the sum of the entries is 964",
      ],
    });
  });

  it("ledger show and doctor do not read everything at once", async () => {
    const shown = await measured(10, "ledger", "show", "--account", "acc_one", "--limit", "2");
    expect(shown.json.entries).toHaveLength(2);
    const older = await installation.command(
      ...["ledger", "show", "--account", "acc_one", "--before", String(shown.json.next)],
    );
    expect(older.json.entries).toHaveLength(50);
    await measured(10, "doctor");
  });
});
