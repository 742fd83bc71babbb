import { spawnSync } from "node:child_process";
import { SCENARIOS } from "./bench/scenarios.js";
import { VERIFICATIONS } from "./verifications.js";

/**
 * `npm run verify NAME... [-- OPTIONS]` and `npm run bench NAME...`: runs the steps of what is named, one after the
 * other; the last step of each gets the options. A step that several have, such as the build, runs once. Without a
 * name, or with an unknown one, lists the names.
 */
const LISTS: Readonly<Record<string, Readonly<Record<string, NamedCommand>>>> = {
  verify: VERIFICATIONS,
  bench: SCENARIOS,
};

/** A line that says what it does, and its steps: programs with their arguments. */
export type NamedCommand = { readonly about: string; readonly steps: readonly string[] };

const [script = "", ...given] = process.argv.slice(2);
const commands = LISTS[script] ?? {};
const firstOption = given.findIndex((word) => commands[word] === undefined);
const names = firstOption === -1 ? given : given.slice(0, firstOption);
const options = given.slice(names.length);

const listNames = (): number => {
  if (given[0] !== undefined) console.error(`There is no "${given[0]}".`);
  console.log(`npm run ${script} NAME [-- OPTIONS]`);
  const width = Math.max(...Object.keys(commands).map(({ length }) => length));
  for (const [name, { about }] of Object.entries(commands)) console.log(`  ${name.padEnd(width)}  ${about}`);
  return 1;
};

const run = (): number => {
  const done = new Set<string>();
  for (const { steps } of names.flatMap((name) => commands[name] ?? [])) {
    for (const step of steps.filter((one) => !done.has(one))) {
      done.add(step);
      const [program = "", ...args] = step.split(" ");
      const { status, error } = spawnSync(program, [...args, ...(step === steps.at(-1) ? options : [])], {
        stdio: "inherit",
      });
      if (error !== undefined) console.error(`${program} cannot be started: ${error.message}`);
      if (status !== 0) return status ?? 1;
    }
  }
  return 0;
};

process.exitCode = names.length === 0 ? listNames() : run();
