import { parseArgs } from "node:util";
import { err, type Result } from "neverthrow";
import { CannotListen } from "../adapters/http/request-source.js";
import { DatabaseError } from "../adapters/persistence/database/sql/database-error.js";
import {
  type CommandError,
  ConfigurationError,
  EXIT_STATUS,
  failed,
  misconfigured,
  misused,
  StartError,
} from "./command-error.js";
import { COMMANDS } from "./commands/commands.js";
import type { Command, Output, Values } from "./commands/common/command.js";
import { helpOf, helpOfAll, synopsisOf } from "./commands/help.js";
import { serve } from "./commands/serve.js";
import { type Config, readConfig } from "./config.js";
import { listenError } from "./doctor/check-access.js";
import { unusableDataDir } from "./doctor/data-directory.js";
import { operatorName } from "./operator-name.js";
import type { Service } from "./service.js";
import { tokens } from "./tokens.js";
import { panoramaVersion } from "./version.js";

/** True if `args` begins with the words of the command. */
const isCalled = ({ words }: Command, args: readonly string[]): boolean =>
  words.split(" ").every((word, index) => args[index] === word);

/**
 * The first two arguments at most, and none that begins with a hyphen: what follows a mistyped command may be a secret.
 */
const shownCommand = (args: readonly string[]): string => {
  const end = args.findIndex((arg) => arg.startsWith("-"));
  return args.slice(0, Math.min(2, end === -1 ? args.length : end)).join(" ");
};

/** The command that the arguments begin with. */
export const commandOf = (args: readonly string[]): Command | undefined =>
  COMMANDS.find((command) => isCalled(command, args));

/** Finds the command, checks its options, and runs it on a new service, which is closed afterwards. */
const run = async (
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Result<Output | undefined, CommandError>> => {
  const command = commandOf(args);
  if (command === undefined) {
    return err(misused(`Unknown command "${shownCommand(args)}". Run panorama help for a list of commands.`));
  }
  const parsed = parse(command, args.slice(command.words.split(" ").length));
  if (typeof parsed === "string") return err(misused(parsed));
  const missing = command.required.find((option) => parsed[option] === undefined);
  if (missing !== undefined) {
    const name = missing === command.positional ? missing.toUpperCase() : `--${missing}`;
    return err(misused(`panorama ${command.words}: ${name} is required. Usage: ${synopsisOf(command)}`));
  }

  const config = readConfig(environment);
  if (config.isErr()) return command.runMisconfigured?.(config.error) ?? err(misconfigured(config.error));
  // Imported last, because it takes longest: a mistyped command fails at once.
  const { createService } = await import("./service.js");
  // Commands have no log, only a result.
  const logLevel = command === serve ? config.value.logLevel : "silent";
  const service = createService(
    { ...config.value, logLevel },
    { createsDatabase: command.createsDatabase === true, patience: command === serve ? "requests" : "commands" },
  );
  try {
    return await runOn(service, command, parsed);
  } catch (error) {
    throw named(error, config.value);
  }
};

/** Closing a service of which a part could not be opened may throw the same error again. */
const runOn = async (service: Service, command: Command, parsed: Values) => {
  try {
    return command.isRecorded === true
      ? await runRecorded(command, service, parsed)
      : await command.run(service, parsed);
  } finally {
    await service.close();
  }
};

/** The error in words of the configuration: the variable of a port, and DATA_DIR for a file that cannot be used. */
const named = (error: unknown, config: Config): unknown => {
  if (error instanceof CannotListen) return listenError(error, config);
  const { dataDir, databaseUrl } = config;
  if (error instanceof StartError || databaseUrl !== undefined) return error;
  const sentence = unusableDataDir(dataDir, error instanceof DatabaseError ? error.cause : error);
  return sentence === undefined ? error : new ConfigurationError(sentence, { cause: error });
};

/** Runs a command, and writes it to the log of operators. */
const runRecorded = async (command: Command, service: Service, values: Values) => {
  const { operators } = await service.get(tokens.storeUseCases);
  return operators.recordAction(
    { operator: operatorName(), command: command.words, arguments: recordedArguments(values) },
    async () => command.run(service, values),
    (result) => (result.isOk() ? "done" : result.error.kind),
  );
};

/** Returns the values of the options, or one line that says which argument is wrong. */
const parse = (command: Command, args: string[]): Values | string => {
  const { words, options, positional } = command;
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...options, json: { type: "boolean" } },
      strict: true,
      allowPositionals: true,
    });
    // An argument that is not expected is not shown: it may be a secret.
    if (positional === undefined && positionals.length > 0)
      throw new Error("It takes no argument besides its options.");
    if (positional === undefined || positionals.length === 0) return values;
    if (positionals.length > 1) throw new Error(`Expected one ${positional}. Put it in quotes.`);
    return { ...values, [positional]: positionals[0] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `panorama ${words}: ${reason.split(". To specify")[0]?.replace(/\.$/, "")}. Usage: ${synopsisOf(command)}`;
  }
};

/** The help of the command that the arguments begin with, of its group, or of all. */
const help = (args: readonly string[]): string => {
  const command = commandOf(args);
  if (command !== undefined) return helpOf(command);
  const group = COMMANDS.filter(({ words }) => words.split(" ")[0] === args[0]);
  return helpOfAll(group.length > 0 ? group : COMMANDS);
};

/** The arguments whose help is asked for: `help COMMAND`, `COMMAND --help`, or nothing at all. */
const helpWanted = (args: readonly string[]): readonly string[] | undefined => {
  if (args[0] === "help") return args.slice(1);
  return args.length === 0 || args.includes("--help") || args.includes("-h") ? args : undefined;
};

const thrown = (error: unknown): CommandError => {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof DatabaseError || error instanceof StartError) return { kind: error.kind, message };
  // For start-on-node.cts, which says what the machine or the installation lacks.
  const { code } = (error ?? {}) as { readonly code?: unknown };
  if (/^(E[MN]FILE|ENOMEM|(ERR_)?MODULE_NOT_FOUND|ERR_DLOPEN_FAILED)$/.test(String(code))) throw error;
  return failed(message);
};

/** Output and exit status of a process. */
type Answer = { readonly status: number; readonly output?: string; readonly error?: string };

/** Runs the command of these arguments. Some, such as those that ask, also use the streams of the process. */
export const answerTo = async (args: readonly string[], environment: NodeJS.ProcessEnv): Promise<Answer> => {
  const isJson = args.includes("--json");
  const wanted = helpWanted(args);
  if (wanted !== undefined) return { status: args.length === 0 ? EXIT_STATUS.usage : 0, output: help(wanted) };
  if (args[0] === "--version") {
    const version = panoramaVersion();
    return { status: 0, output: isJson ? JSON.stringify({ version }) : version };
  }
  const result = await run(args, environment).catch((error: unknown) => err(thrown(error)));
  if (result.isErr()) {
    const { kind, message } = result.error;
    const line = message.replace(/\s*\n\s*/g, " ");
    const error = isJson ? JSON.stringify({ error: { code: kind, message: line } }) : line;
    return { status: EXIT_STATUS[kind], error };
  }
  if (result.value === undefined) return { status: 0 };
  const { json, lines, failed: failure } = result.value;
  const output = isJson ? JSON.stringify(json) : lines.join("\n");
  return { status: failure === undefined ? 0 : EXIT_STATUS[failure], output };
};

/**
 * The options of a command for the log of operators, without those that hold a secret: the query and the user name of a
 * URL. Passwords are never options. `--confirm` is left out: it repeats what the log has already. Addresses are spelled
 * as they are stored, so that closing an account finds them.
 */
const recordedArguments = (values: Values): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name, value]) => name !== "json" && name !== "confirm" && value !== undefined)
      .map(([name, value]) => [name, recorded(String(value))]),
  );

const recorded = (value: string): string => {
  if (/^[^\s@/]+@[^\s@/]+$/.test(value.trim())) return value.trim().toLowerCase();
  if (!/^https?:/i.test(value) || !URL.canParse(value)) return value;
  const { protocol, host, pathname } = new URL(value);
  return `${protocol}//${host}${pathname}`;
};
