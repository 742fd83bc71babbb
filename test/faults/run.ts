import { parseArgs } from "node:util";
import type { Dialect } from "../../adapters/persistence/database/sql/database.js";
import { casesOf } from "./cases.js";
import { openDatabase } from "./databases.js";
import { SCENARIOS } from "./scenarios.js";

/*
 * The fault matrix: every scenario of a task's life, with every fault at every call of a port, on SQLite and
 * PostgreSQL.
 *
 *   npm run verify faults                                            all cases
 *   npm run verify faults -- --database sqlite --scenario deleted    cases of scenarios whose name contains this
 *   npm run verify faults -- --case 'sqlite | saved | tasks.move 2 | killed after'    one case that has failed
 *   npm run verify faults -- --every 50                              every 50th case
 *   npm run verify faults -- --first                                 ends with the first case that fails
 *
 * A case is named by database, scenario, the n-th call of a port, and fault.
 */

const { values: options } = parseArgs({
  options: {
    database: { type: "string" },
    scenario: { type: "string", default: "" },
    case: { type: "string", default: "" },
    every: { type: "string", default: "1" },
    first: { type: "boolean", default: false },
  },
});

const every = Number(options.every);
const [named, scenarioOfCase] = options.case.split(" | ");
let failed = 0;

const runMatrix = async (dialect: Dialect): Promise<void> => {
  const { database, remove } = await openDatabase(dialect);
  const ran = new Map<string, number>();
  let [index, notMade] = [0, 0];
  const startedAt = performance.now();
  const scenarios = SCENARIOS.filter(({ name }) => name.includes(options.scenario)).filter(
    ({ name }) => scenarioOfCase === undefined || scenarioOfCase === name,
  );
  for (const scenario of scenarios) {
    for (const one of await casesOf(database, scenario)) {
      if (!one.name.includes(options.case)) continue;
      index += 1;
      if (index % every !== 0 || (failed > 0 && options.first)) continue;
      const outcome = await one.run();
      ran.set(one.fault, (ran.get(one.fault) ?? 0) + 1);
      if (outcome.notMade) notMade += 1;
      if (outcome.findings.length === 0) continue;
      failed += 1;
      console.log(`FAILED  ${one.name}`);
      for (const finding of outcome.findings) console.log(`        ${finding}`);
    }
  }
  const seconds = (performance.now() - startedAt) / 1000;
  await remove();
  for (const [fault, count] of [...ran].sort()) console.log(`${dialect}  ${String(count).padStart(6)}  ${fault}`);
  const all = [...ran.values()].reduce((sum, count) => sum + count, 0);
  console.log(`${dialect}: ${all} cases in ${seconds.toFixed(1)} s; in ${notMade} the call of the fault was not made.`);
};

const DIALECTS: readonly Dialect[] = ["sqlite", "postgresql"];
for (const dialect of DIALECTS) {
  const isWanted = (options.database ?? dialect) === dialect && (scenarioOfCase === undefined || named === dialect);
  if (isWanted && (failed === 0 || !options.first)) await runMatrix(dialect);
}
console.log(failed === 0 ? "No case failed." : `${failed} cases failed.`);
process.exitCode = failed === 0 ? 0 : 1;
