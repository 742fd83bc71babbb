import { parseArgs } from "node:util";
import { err, type Result } from "neverthrow";
import { accountCreate, accountSetLowBalance, accountSetPassword } from "./commands/account.js";
import { backup } from "./commands/backup.js";
import type { Command, Output, Values } from "./commands/command.js";
import { generate } from "./commands/generate.js";
import { imageRetry } from "./commands/image.js";
import { keyCreate, keyList, keyRevoke } from "./commands/key.js";
import { ledgerShow, ledgerVerify } from "./commands/ledger.js";
import { mcp } from "./commands/mcp.js";
import { migrate } from "./commands/migrate.js";
import { orderCreate, orderPay } from "./commands/order.js";
import { serve } from "./commands/serve.js";
import {
  webhookCreate,
  webhookDelete,
  webhookDeliveries,
  webhookEnable,
  webhookList,
  webhookResend,
  webhookRotate,
} from "./commands/webhook.js";
import { readConfig } from "./config.js";

const COMMANDS: readonly Command[] = [
  serve,
  accountCreate,
  accountSetPassword,
  accountSetLowBalance,
  orderCreate,
  orderPay,
  keyCreate,
  keyList,
  keyRevoke,
  ledgerShow,
  ledgerVerify,
  imageRetry,
  webhookCreate,
  webhookList,
  webhookDelete,
  webhookRotate,
  webhookEnable,
  webhookDeliveries,
  webhookResend,
  generate,
  mcp,
  migrate,
  backup,
];

const synopsisOf = ({ words, usage }: Command): string => `panorama ${words} ${usage}`.trimEnd();

const HELP = [
  "Usage: panorama COMMAND [OPTIONS] [--json]",
  "",
  ...COMMANDS.map((command) => `  ${synopsisOf(command)}`),
  "",
  "OPERATIONS.md lists the environment variables that configure the service.",
].join("\n");

/** Finds the command, checks its options, and runs it on a new service, which is closed afterwards. */
const run = async (args: readonly string[]): Promise<Result<Output | undefined, string>> => {
  const command = COMMANDS.find(({ words }) => words.split(" ").every((word, index) => args[index] === word));
  if (command === undefined)
    return err(`Unknown command "${args.join(" ")}". Run panorama --help for a list of commands.`);
  const parsed = parse(command, args.slice(command.words.split(" ").length));
  if (typeof parsed === "string") return err(parsed);
  const missing = command.required.find((option) => parsed[option] === undefined);
  if (missing !== undefined) {
    const name = missing === command.positional ? missing.toUpperCase() : `--${missing}`;
    return err(`panorama ${command.words}: ${name} is required. Usage: ${synopsisOf(command)}`);
  }

  // The service's files are for its own user only: prompts, private images, the TLS key.
  if (command.isClient !== true) process.umask(0o077);
  const config = readConfig(process.env);
  if (config.isErr()) return err(config.error);
  // Imported last, because it takes longest: a mistyped command fails at once.
  const { createService } = await import("./service.js");
  const service = createService(config.value);
  try {
    return await command.run(service, parsed);
  } finally {
    await service.close();
  }
};

/** Returns the values of the options, or one line that says which argument is wrong. */
const parse = (command: Command, args: string[]): Values | string => {
  const { words, options, positional } = command;
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...options, json: { type: "boolean" } },
      strict: true,
      allowPositionals: positional !== undefined,
    });
    if (positional === undefined || positionals.length === 0) return values;
    if (positionals.length > 1) throw new Error(`Expected one ${positional}. Put it in quotes.`);
    return { ...values, [positional]: positionals[0] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `panorama ${words}: ${reason.replace(/\.$/, "")}. Usage: ${synopsisOf(command)}`;
  }
};

const main = async (args: readonly string[]): Promise<number> => {
  if (args.length === 0 || args.includes("--help")) {
    console.log(HELP);
    return args.length === 0 ? 1 : 0;
  }
  const result = await run(args).catch((error: unknown) => err(error instanceof Error ? error.message : String(error)));
  if (result.isErr()) {
    console.error(result.error.replace(/\s*\n\s*/g, " "));
    return 1;
  }
  if (result.value === undefined) return 0;
  const { json, lines, failed } = result.value;
  console.log(args.includes("--json") ? JSON.stringify(json) : lines.join("\n"));
  return failed === true ? 1 : 0;
};

process.exit(await main(process.argv.slice(2)));
