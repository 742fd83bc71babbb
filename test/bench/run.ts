import { parseArgs } from "node:util";
import { Rig, type Scenario } from "./rig.js";

/* `run.ts NAME [--OPTION VALUE]...`: runs a scenario, and exits with status 1 if something is wrong. */

const [name = "", ...args] = process.argv.slice(2);
const { scenario }: { scenario: Scenario } = await import(`./${name}.ts`);
const described = Object.entries(scenario.options).map(([option, byDefault]) => {
  return [option, { type: "string", default: byDefault }] as const;
});
const { values } = parseArgs({ args, options: Object.fromEntries(described) });
const rig = new Rig();
try {
  await scenario.run(rig, values as Record<string, string>);
} finally {
  await rig.close();
}
rig.report();
process.exit(rig.problems.length > 0 ? 1 : 0);
