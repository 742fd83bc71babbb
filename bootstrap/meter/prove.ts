import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import type { Pool } from "pg";
import { postgres } from "../../adapters/persistence/stores/postgres-meter-store.js";
import { meter } from "../../application/credits/meter.js";
import { openPool } from "./open-pool.js";
import { type Answer, PROOF_ACCOUNTS, PROOF_POLICY } from "./proof-worker.js";

/** What was compared, how often, and what was wrong: one sentence for each. */
export type Check = { readonly what: string; readonly count: number; readonly wrong: readonly string[] };
/** What happened in a proof. */
export type Proof = { readonly schema: string; readonly kills: number; readonly checks: readonly Check[] };

/** The clocks of the two processes are this far ahead of the machine's. */
const AHEAD_MILLISECONDS = [-90_000, 90_000] as const;
/** After its first answer. */
const KILL_MILLISECONDS_MAX = 3_000;

/**
 * Runs two processes (`worker`: the arguments of Node.js, before the URL, the schema and the error of the clock), kills
 * and restarts them at random moments, and compares what they were told with the tables. The schema is dropped if
 * nothing is wrong.
 */
export const prove = async (worker: readonly string[], url: string, seconds: number): Promise<Proof> => {
  const pool = await openPool(url);
  const schema = `panorama_meter_proof_${randomBytes(4).toString("hex")}`;
  try {
    const tokens = meter({ policy: PROOF_POLICY, store: await postgres(pool, { schema }) });
    await pool.query(`create table ${schema}.job (task_id text primary key)`);
    const { answers, kills } = await runAndKill(worker, url, schema, seconds);
    await setTimeout(PROOF_POLICY.holdSeconds * 1_000 + 500); // the leases of those that were killed end
    for (const account of PROOF_ACCOUNTS) await tokens.ledger(account); // adds their refunds
    const checks = await verify(pool, schema, answers);
    if (checks.every(({ wrong }) => wrong.length === 0)) await pool.query(`drop schema ${schema} cascade`);
    return { schema, kills, checks };
  } finally {
    await pool.end();
  }
};

const runAndKill = async (worker: readonly string[], url: string, schema: string, seconds: number) => {
  const answers: Answer[] = [];
  const deadline = performance.now() + seconds * 1_000;
  let kills = 0;
  const run = async (aheadMilliseconds: number): Promise<void> => {
    while (performance.now() < deadline) {
      const args = [...worker, url, schema, String(aheadMilliseconds)];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
      let errors = "";
      child.stderr.on("data", (text) => (errors += text));
      const lines = createInterface({ input: child.stdout });
      lines.on("line", (line) => answers.push(JSON.parse(line)));
      const ended = new Promise((resolve) => child.once("close", resolve));
      await Promise.race([ended, new Promise((resolve) => lines.once("line", resolve))]);
      await Promise.race([ended, setTimeout(Math.random() * KILL_MILLISECONDS_MAX)]);
      if (hasEnded(child)) throw new Error(`A process of the proof has ended by itself: ${errors}`);
      child.kill("SIGKILL");
      await ended;
      kills += 1;
    }
  };
  await Promise.all(AHEAD_MILLISECONDS.map(run));
  return { answers, kills };
};

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null;

/** Compares the tables with each other, and with what the processes were told. */
export const verify = async (pool: Pool, schema: string, answers: readonly Answer[]): Promise<readonly Check[]> => {
  const tables = await readTables(pool, schema);
  const isTrue = truthIn(tables);
  const { accounts, jobs } = tables;
  const tasks = [...tables.tasks.values()];
  return [
    check(
      "balances are the sum of their ledger, and not below zero",
      accounts,
      ({ balance, sum }) => balance !== sum || balance < 0,
      ({ id, balance, sum }) => `account ${id} has ${balance} credits, its entries give ${sum}`,
    ),
    check(
      "tasks ended, and cost what was captured less refunds",
      tasks,
      (task) => task.state === "held" || task.kept !== keptBy(task) || task.kept < 0,
      (task) => `task ${task.id} is ${task.state}, and its entries take ${task.kept} credits`,
    ),
    check(
      "holds have the row of the caller that was written with them",
      [...new Set([...jobs, ...tables.tasks.keys()])],
      (id) => !jobs.has(id) || !tables.tasks.has(id),
      (id) => `task ${id} has ${jobs.has(id) ? "a row of the caller and no hold" : "a hold and no row of the caller"}`,
    ),
    check(
      "answers that a process got are true",
      answers,
      (answer) => !isTrue(answer),
      (answer) => `not true: ${JSON.stringify(answer)}`,
    ),
  ];
};

type Account = { readonly id: string; readonly balance: number; readonly sum: number };

/** `kept`: what its entries take. */
type Task = {
  readonly id: string;
  readonly credits: number;
  readonly state: string;
  readonly captured: number;
  readonly refunded: number;
  readonly kept: number;
};

/** An entry with a key of its account. */
type KeyedEntry = { readonly account: string; readonly key: string; readonly credits: number };

const readTables = async (pool: Pool, schema: string) => {
  const rows = async <Row extends Record<string, unknown>>(text: string): Promise<Row[]> =>
    (await pool.query<Row>(text.replaceAll(/\b(meter_\w+|job)\b/g, `${schema}.$1`))).rows;
  const accounts = await rows<Account>(
    `select id, credits - debt as balance,
      (select coalesce(sum(e.credits), 0)::int from meter_entry as e where e.account_id = a.id) as sum
     from meter_account as a`,
  );
  const tasks = await rows<Task>(
    `select task_id as id, credits, state, captured, refunded,
      (select -sum(e.credits)::int from meter_entry as e where e.task_id = h.task_id) as kept
     from meter_hold as h`,
  );
  const jobs = await rows<{ id: string }>("select task_id as id from job");
  const entries = await rows<KeyedEntry>(
    "select account_id as account, order_id as key, credits from meter_entry where order_id is not null",
  );
  return {
    accounts,
    tasks: new Map(tasks.map((task) => [task.id, task])),
    jobs: new Set(jobs.map(({ id }) => id)),
    entries: new Map(entries.map((entry) => [`${entry.account} ${entry.key}`, entry])),
  };
};

type Tables = Awaited<ReturnType<typeof readTables>>;

/** Whether an answer is what the tables say. A key has one hold in all answers. */
const truthIn = ({ tasks, entries }: Tables): ((answer: Answer) => boolean) => {
  const holdOfKey = new Map<string, string>();
  return (answer) => {
    switch (answer.told) {
      case "bought":
        return entries.get(`${answer.account} ${answer.order}`)?.credits === answer.credits;
      case "refunded_later":
      case "adjusted":
        return entries.has(`${answer.account} ${answer.key}`);
      case "held": {
        const { account, key, task } = answer;
        if (key !== undefined && (holdOfKey.get(`${account} ${key}`) ?? task) !== task) return false;
        if (key !== undefined) holdOfKey.set(`${account} ${key}`, task);
        return tasks.has(task);
      }
      case "captured":
        return tasks.get(answer.task)?.captured === answer.credits;
      case "refunded":
        return tasks.get(answer.task)?.state === "refunded";
    }
  };
};

const keptBy = ({ state, captured, refunded }: Task): number => (state === "captured" ? captured - refunded : 0);

const check = <Value>(
  what: string,
  values: readonly Value[],
  isWrong: (value: Value) => boolean,
  sentence: (value: Value) => string,
): Check => ({
  what,
  count: values.length,
  wrong: values.length === 0 ? ["there was nothing to compare"] : values.filter(isWrong).map(sentence),
});
