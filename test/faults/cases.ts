import type { AnyDatabase } from "../support/sql-stores.js";
import { type Fault, faultsOf } from "./faults.js";
import { runCase } from "./run-case.js";
import type { Scenario } from "./scenarios.js";

/** What a case has shown. `notMade`: the call of its fault was not made this time, because concurrent calls vary. */
export type Outcome = { readonly findings: readonly string[]; readonly notMade: boolean };

/** One scenario with at most one fault. */
export type Case = { readonly name: string; readonly fault: string; readonly run: () => Promise<Outcome> };

/**
 * The scenario without a fault, which records the calls of every port, and then with every fault at every call. Without
 * a fault it must end as the scenario says.
 */
export const casesOf = async (database: AnyDatabase, scenario: Scenario): Promise<Case[]> => {
  const { findings, ends, calls } = await runCase(database, scenario);
  const wrong = [...findings];
  if (ends.join() !== scenario.ends.join()) wrong.push(`it ends with [${ends.join()}], not [${scenario.ends.join()}]`);
  const prefix = `${database.dialect} | ${scenario.name}`;
  const faultless = async () => ({ findings: wrong, notMade: false });
  const cases: Case[] = [{ name: `${prefix} | no fault`, fault: "no fault", run: faultless }];
  for (const [target, count] of calls) {
    for (const fault of faultsOf(target, database.dialect)) {
      for (let n = 1; n <= count; n += 1) {
        const run = async () => {
          const result = await runCase(database, scenario, { target, n, fault });
          return { ...result, findings: [...result.findings, ...lostTasks(scenario, fault, result.ends)] };
        };
        cases.push({ name: `${prefix} | ${target} ${n} | ${fault.name}`, fault: fault.name, run });
      }
    }
  }
  return cases;
};

/** These neither take time nor disable a port, so no task may end worse than without them. */
const HARMLESS: ReadonlySet<Fault["kind"]> = new Set(["kill", "throw", "rest", "twin"]);

const lostTasks = ({ ends, orEnds = [] }: Scenario, { kind }: Fault, found: readonly string[]): string[] =>
  HARMLESS.has(kind)
    ? found.filter((end) => !ends.includes(end) && !orEnds.includes(end)).map((end) => `a task ends as ${end}`)
    : [];
