#!/usr/bin/env node
import { parseArgs } from "node:util";
import { proofWorker } from "./proof-worker.js";
import { prove } from "./prove.js";

/** `panorama-meter`, the command of the package. */
const USAGE = `Usage: panorama-meter prove --postgres URL [--seconds 60]

Two processes hold, capture, refund, buy and adjust credits on your PostgreSQL. They are killed and restarted at random
moments, and their clocks are three minutes apart. Then every balance, every task and every answer that a process got
is compared. All of it is in a schema of its own, which is dropped in the end. Needs the package pg:

  npx -p panorama-meter -p pg panorama-meter prove --postgres postgres://…`;

const [command, ...args] = process.argv.slice(2);

const proveAndPrint = async (url: string, seconds: number): Promise<void> => {
  console.log(`Two processes work for ${seconds} seconds, and are killed again and again.`);
  const { schema, kills, checks } = await prove([process.argv[1] as string, "work"], url, seconds);
  console.log(`${kills} kills (SIGKILL)`);
  for (const { what, count, wrong } of checks) {
    console.log(`${wrong.length === 0 ? "ok " : "NOT"} ${String(count).padStart(8)} ${what}`);
    for (const sentence of wrong.slice(0, 10)) console.log(`             ${sentence}`);
  }
  if (checks.every(({ wrong }) => wrong.length === 0)) return;
  console.log(`The tables are in the schema ${schema}.`);
  process.exitCode = 1;
};

const work = async ([url = "", schema = "", ahead = "0"]: readonly string[]): Promise<void> => {
  const Machine = Date;
  // A wrong clock: nothing that is decided may depend on it.
  globalThis.Date = class extends Machine {
    constructor(...given: [] | [number]) {
      super(given.length === 0 ? Machine.now() + Number(ahead) : given[0]);
    }
    static override now = () => Machine.now() + Number(ahead);
  } as DateConstructor;
  await proofWorker(url, schema, (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`));
};

try {
  if (command === "work") await work(args);
  else {
    const { values } = parseArgs({ args, options: { postgres: { type: "string" }, seconds: { type: "string" } } });
    const seconds = Number(values.seconds ?? 60);
    if (command === "prove" && values.postgres !== undefined && seconds > 0)
      await proveAndPrint(values.postgres, seconds);
    else {
      console.log(USAGE);
      process.exitCode = command === undefined || command === "--help" ? 0 : 2;
    }
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
