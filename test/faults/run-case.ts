import { setTimeout } from "node:timers/promises";
import { ok } from "neverthrow";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { LEASE_MILLISECONDS } from "../support/application.js";
import { EMPTY_TABLES, TABLES } from "../support/postgres-stores.js";
import type { AnyDatabase } from "../support/sql-stores.js";
import type { Target } from "./faults.js";
import { inspect, isInjected, workLeft } from "./findings.js";
import { Instance, type PlannedFault } from "./instance.js";
import type { Scenario } from "./scenarios.js";
import { ALL_WORK, type Step } from "./steps.js";
import { surroundings } from "./surroundings.js";

export type CaseResult = {
  /** What is wrong, one sentence each. */
  readonly findings: readonly string[];
  /** How the tasks have ended, oldest first. */
  readonly ends: readonly string[];
  /** How often the instance has called each port. */
  readonly calls: ReadonlyMap<Target, number>;
  /** The call of the fault was not made. */
  readonly notMade: boolean;
};

/** Rounds of background work after a scenario, a lease apart: together longer than every deadline and every pause. */
const ROUNDS_MAX = 15;

/** A step hangs if it has not ended after this many seconds in which this process ran. */
const STEP_SECONDS_MAX = 20;

/**
 * Runs a scenario on one instance, with at most one fault. After a fault the interrupted step is repeated: by the same
 * instance, or by a new one if the first was killed. Then a new instance does background work until none is left, and
 * everything is inspected.
 */
export const runCase = async (database: AnyDatabase, scenario: Scenario, plan?: PlannedFault): Promise<CaseResult> => {
  await empty(database);
  const around = await surroundings(database, scenario);
  const findings: string[] = [];
  const elsewhere: Promise<unknown>[] = [];
  let at = 0;

  const perform = async (instance: Instance, step: Step): Promise<"ended" | "killed" | "failed"> => {
    const run = step(instance, around).then(
      () => "ended" as const,
      (error: unknown) => {
        if (!isInjected(error)) findings.push(`step ${at + 1} throws ${String(error)}`);
        return "failed" as const;
      },
    );
    const killed = instance.killed.then(() => "killed" as const);
    const [ended, stop] = limited([run, killed, ...(instance.isDead ? [Promise.resolve("killed" as const)] : [])]);
    const result = await ended;
    stop();
    if (result !== "hangs") return result;
    findings.push(`step ${at + 1} hangs`);
    return "ended";
  };

  const letOthersRun = async (kind: "recover" | "rest" | "twin"): Promise<void> => {
    const other = new Instance(around);
    if (kind === "recover") {
      await around.clock.advance(LEASE_MILLISECONDS + 1_000);
      return workRound(other, perform);
    }
    const steps = scenario.steps.slice(kind === "twin" ? at : at + 1);
    at = scenario.steps.length;
    const rest = (async () => {
      for (const step of steps) await perform(other, step);
    })();
    elsewhere.push(rest);
    await Promise.race([rest, waitsForLock(database)]);
  };

  const first = new Instance(around, plan, letOthersRun);
  let instance = first;
  for (; at < scenario.steps.length; at += 1) {
    const step = scenario.steps[at] as Step;
    const result = await perform(instance, step);
    if (result === "killed") instance = new Instance(around);
    if (result !== "ended") await perform(instance, step);
    findings.push(...(await tooManyActive(database)));
  }
  await Promise.all(elsewhere);
  if (plan?.fault.name.startsWith("clock set back") !== true) findings.push(...(await dueTooEarly(database)));

  const last = new Instance(around);
  for (let round = 0; round < ROUNDS_MAX && (await workLeft(around)).length > 0; round += 1) {
    await around.clock.advance(LEASE_MILLISECONDS + 1_000);
    await workRound(last, perform);
  }
  const inspected = await inspect(around);
  if (plan === undefined) findings.push(...inspected.unannounced);
  const notMade = plan !== undefined && !first.hasStruck;
  return { findings: [...findings, ...inspected.findings], ends: inspected.ends, calls: first.calls, notMade };
};

/** However creations and workers meet, the account never has more tasks in processing than it may. */
const tooManyActive = async ({ sql }: AnyDatabase): Promise<string[]> => {
  const [active] = await sql("select count(*) as n from task where state not in ('succeeded', 'failed')");
  return Number(active?.n) > PANORAMA_POLICY.activeMax ? [`${Number(active?.n)} tasks are active at once`] : [];
};

/** Unless a clock was set back, nothing is due before its task was created. */
const dueTooEarly = async ({ sql }: AnyDatabase): Promise<string[]> => {
  const early = await sql("select id from task where due_at < reserved_at");
  return early.map(() => "a due time is corrected although no clock was set back");
};

const workRound = async (
  instance: Instance,
  perform: (instance: Instance, step: Step) => Promise<unknown>,
): Promise<void> => {
  for (const name of ALL_WORK) await perform(instance, ({ useCases }) => useCases[name]());
};

/** The first result, or `hangs`. Time in which this process was halted does not count. */
const limited = <T>(results: readonly Promise<T>[]): [Promise<T | "hangs">, () => void] => {
  let stop = () => {};
  const tooLong = new Promise<"hangs">((resolve) => {
    let seconds = 0;
    const timer = setInterval(() => {
      seconds += 1;
      if (seconds === STEP_SECONDS_MAX) resolve("hangs");
    }, 1_000);
    stop = () => clearInterval(timer);
  });
  return [Promise.race([...results, tooLong]), () => stop()];
};

/** Resolves when a statement waits for a lock on PostgreSQL; on SQLite never. */
const waitsForLock = async (database: AnyDatabase): Promise<void> => {
  if (database.dialect === "sqlite") return new Promise(() => {});
  for (let tries = 0; tries < 1_000; tries += 1) {
    await setTimeout(3);
    const [locks] = await database.sql(WAITING);
    if (Number(locks?.n) > 0) return;
  }
};

const WAITING =
  "select count(*) as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

/** Deletes all rows. The ledger's trigger, which refuses that, is absent in these SQLite files. */
const empty = async (database: AnyDatabase): Promise<void> => {
  if (database.dialect === "postgresql") return void (await database.sql(EMPTY_TABLES));
  await database.transaction<void, never>(async (sql) => {
    for (const table of TABLES) await sql(`delete from ${table}`);
    await sql("update task_queue set round = 1");
    return ok(undefined);
  });
};
