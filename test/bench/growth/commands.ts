import { COMMANDS } from "../../../bootstrap/commands/commands.js";
import type { Command, Values } from "../../../bootstrap/commands/common/command.js";
import type { Member } from "./seed.js";

/**
 * Milliseconds: most of these commands take 0.1 to 5, and one turn of a busy machine can double that. No scan hides
 * below it: by their plans on both databases, all search an index, or read the beginning of one. Only what waits in the
 * queue, open reports and operators are read whole.
 */
export const COMMAND_NOISE = 2;

/** The options of each command that reads, or why it is not measured: then it takes longer by design. */
const READS: Readonly<Record<string, ((of: Member) => Values) | string>> = {
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

/** The commands that are measured, with their options. */
export const readingCommands = (who: Member) =>
  COMMANDS.flatMap((command) => {
    const valuesOf = READS[command.words];
    return typeof valuesOf === "function" ? [{ command, values: { ...defaultsOf(command), ...valuesOf(who) } }] : [];
  });

/** What the command line would fill in. */
const defaultsOf = ({ options }: Command): Values =>
  Object.fromEntries(
    Object.entries(options).flatMap(([name, { default: value }]) => (value === undefined ? [] : [[name, value]])),
  );
