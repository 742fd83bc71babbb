import { fork } from "node:child_process";
import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type RunResult, simulate } from "./simulation.js";

/*
 * `npm run verify simulation -- [--runs 100000] [--seed N]`: runs of the simulation with one process for each core,
 * from a random seed on, or from N on. Stops at the first broken rule, prints it with its seed, and exits with status
 * 1. `npm run verify simulation -- --seed N` replays one run and prints every step. The command bundles the sources
 * first: bundled code is faster than what tsx compiles.
 */

const SEEDS = 2 ** 31;
const RUNS = 100_000;
/** Runs per message to the parent. */
const BATCH = 100;

const { values } = parseArgs({
  options: { runs: { type: "string" }, seed: { type: "string" }, every: { type: "string" } },
});

/** Throws unless the option is a number. */
const numberOf = (name: "runs" | "seed" | "every", text: string): number => {
  if (!/^\d{1,10}$/.test(text)) throw new Error(`--${name} is ${text}; it must be a whole number`);
  return Number(text);
};

const replay = async (seed: number): Promise<void> => {
  const trace: string[] = [];
  const { broken } = await simulate(seed, undefined, trace);
  console.log(trace.join("\n"));
  console.log(broken === undefined ? `seed ${seed}: every rule holds` : `seed ${seed}: BROKEN: ${broken}`);
  process.exitCode = broken === undefined ? 0 : 1;
};

/** In a child: every n-th seed. Sends the number of runs, and a broken rule with its seed. */
const runSome = async (first: number, runs: number, every: number): Promise<void> => {
  let done = 0;
  for (let n = 0; n < runs; n += every) {
    const result = await simulate((first + n) % SEEDS);
    done += 1;
    if (result.broken !== undefined || done === BATCH || n + every >= runs) {
      process.send?.({ done, broken: result.broken === undefined ? undefined : result });
      done = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
};

const runAll = async (first: number, runs: number): Promise<void> => {
  const startedAt = performance.now();
  const processes = Math.min(runs, availableParallelism());
  console.log(`${runs} runs from seed ${first} on, in ${processes} processes`);
  let done = 0;
  let broken: RunResult | undefined;
  const children = Array.from({ length: processes }, (_, index) => {
    const args = [
      "--seed",
      String((first + index) % SEEDS),
      "--runs",
      String(runs - index),
      "--every",
      String(processes),
    ];
    // Most objects of a run die with it, so a larger young generation saves a fifth of the time.
    const execArgv = [...process.execArgv, "--max-semi-space-size=64"];
    return fork(fileURLToPath(import.meta.url), args, { execArgv });
  });
  const ends = children.map(
    (child) =>
      new Promise<number>((resolve) => {
        child.on("message", (message: { readonly done: number; readonly broken?: RunResult }) => {
          done += message.done;
          if (message.broken === undefined || broken !== undefined) return;
          broken = message.broken;
          for (const one of children) one.kill();
        });
        child.on("exit", (code) => resolve(code ?? 1));
      }),
  );
  const codes = await Promise.all(ends);
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`${done} runs in ${seconds.toFixed(1)} s, ${Math.round(done / seconds)} a second`);
  if (broken !== undefined) {
    console.error(`BROKEN by seed ${broken.seed}: ${broken.broken}`);
    console.error(`Replay it: npm run verify simulation -- --seed ${broken.seed}`);
  } else if (done !== runs) console.error(`FAILED: the processes ended with ${codes.join(", ")} after ${done} runs`);
  process.exitCode = broken === undefined && done === runs ? 0 : 1;
};

const seed = values.seed === undefined ? randomInt(SEEDS) : numberOf("seed", values.seed);
const runs = values.runs === undefined ? RUNS : numberOf("runs", values.runs);
if (values.every !== undefined) await runSome(seed, runs, numberOf("every", values.every));
else if (values.seed !== undefined && values.runs === undefined) await replay(seed);
else await runAll(seed, runs);
