import { expect } from "vitest";
import { COMMANDS } from "../../bootstrap/commands/commands.js";
import type { Command, Values } from "../../bootstrap/commands/common/command.js";
import type { GrownService } from "./grown-service.js";
import type { Member } from "./seed.js";

/*
 * Every command that reads, for an account in a small database and for the same in a large one. What takes longer by
 * design is named with its reason.
 */

/**
 * Below this difference, in milliseconds, a slowdown cannot be told from noise: most of these commands take 0.1 to 5
 * ms, and one turn of a busy machine can double that. No scan hides below it: by their plans on both databases, all
 * search an index, or read the beginning of one. Only what waits in the queue, open reports and operators are read
 * whole. `webhook list` once took 2.9 and 4.9 ms: it reads 5 pages of PostgreSQL among 300 accounts and 9 among 30,000,
 * both in less than 0.1 ms.
 */
const NOISE = 2;
const RUNS = 6;
const PASSES = 15;

type Reads = Readonly<Record<string, ((of: Member) => Values) | string>>;

/** The options of each command, or why it is not measured. */
const READS: Reads = {
  "account list": () => ({}),
  "account show": ({ id }) => ({ account: id }),
  "account erasures": "reads all accounts: once an hour, for a list of all that were closed",
  "key list": ({ id }) => ({ account: id }),
  "key limits": "writes, or reads one row by its key",
  "order list": ({ id }) => ({ account: id }),
  "ledger show": ({ id }) => ({ account: id }),
  "ledger verify": "checks every entry; ledger-size.long.test.ts bounds its memory",
  "storage verify": "asks for every object",
  "task list": ({ id }) => ({ account: id }),
  "task show": ({ taskId }) => ({ task: taskId(1) }),
  "webhook list": ({ id }) => ({ account: id }),
  "webhook deliveries": ({ id }) => ({ account: id }),
  "audit list": () => ({}),
};

/** They write, copy everything, or do not use the database. */
const OTHERS =
  /^(serve|migrate|backup|doctor|generate|mcp|settings|payments|gallery|credits)\b|^\S+ (create|close|invite|revoke|refund|cancel|retry|delete|rotate|enable|resend|dismiss|hide|suspend|resume|erase-again|password-link|set-\S+|pay)$/;

/** The commands that are neither measured nor named. */
export const unnamedCommands = (): readonly string[] =>
  COMMANDS.map(({ words }) => words).filter((words) => !OTHERS.test(words) && !(words in READS));

/** The commands that take more than `slowdownMax` times as long in the large database. Prints a table of all times. */
export const slowCommands = async (
  small: GrownService,
  large: GrownService,
  who: Member,
  slowdownMax: number,
): Promise<readonly string[]> => {
  const all = COMMANDS.flatMap((command) => {
    const valuesOf = READS[command.words];
    if (typeof valuesOf !== "function") return [];
    return [{ command, values: { ...defaultsOf(command), ...valuesOf(who) }, times: [[], []] as [number[], number[]] }];
  });
  let slower = all;
  for (let pass = 0; pass < PASSES && slower.length > 0; pass += 1) {
    for (const { command, values, times } of slower) {
      for (let run = 0; run < RUNS; run += 1) {
        const turns = [small, large].entries();
        for (const [index, { service }] of run % 2 === 0 ? turns : [...turns].reverse()) {
          const started = performance.now();
          const result = await command.run(service, values);
          times[index === 0 ? 0 : 1].push(performance.now() - started);
          expect(result.isOk(), command.words).toBe(true);
        }
      }
    }
    slower = slower.filter(
      ({ times: [few, many] }) => shortest(many) > Math.max(shortest(few) * slowdownMax, shortest(few) + NOISE),
    );
  }
  const table = all.map(
    ({ command, times: [few, many] }) =>
      `| \`${command.words}\` | ${shortest(few).toFixed(2)} | ${shortest(many).toFixed(2)} | ${(shortest(many) / shortest(few)).toFixed(2)} |`,
  );
  console.log(["| command | small (ms) | large (ms) | ratio |", "|---|---|---|---|", ...table].join("\n"));
  return slower.map(({ command }) => command.words);
};

/** What the command line would fill in. */
const defaultsOf = ({ options }: Command): Values =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]])),
  );

const shortest = (times: readonly number[]): number => Math.min(...times);
