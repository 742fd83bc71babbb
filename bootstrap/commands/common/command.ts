import { err, ok, type Result, type ResultAsync } from "neverthrow";
import { type CommandError, misused } from "../../command-error.js";
import type { Service } from "../../service.js";

/** Output of a command: `json` with `--json`, otherwise `lines`. `failed`: the exit status is an error's. */
export type Output = {
  readonly json: object;
  readonly lines: readonly string[];
  readonly failed?: CommandError["kind"];
};

/** The values of a command's options, by option name. */
export type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export type Option = {
  readonly type: "string" | "boolean";
  readonly multiple?: true;
  readonly default?: string | boolean | string[];
  /** Meaning of the option for the help: a phrase without a full stop. */
  readonly about: string;
};

export type Command = {
  /** Name on the command line, such as `account create`. */
  readonly words: string;
  /** Description for the help: sentences. */
  readonly about: string;
  /** Options and arguments, as the help shows them. */
  readonly usage: string;
  readonly options: Readonly<Record<string, Option>>;
  /** The name in `Values` of the positional argument, if the command takes one. */
  readonly positional?: string;
  readonly required: readonly string[];
  /** A command line to paste, without `panorama`. */
  readonly example: string;
  /** A REST client. It may run on another machine than the service, and the files that it writes are the user's. */
  readonly isClient?: true;
  /** True if the command changes something: it is recorded in the operator log. */
  readonly isRecorded?: true;
  /** Creates the SQLite file if it is missing, and migrates it. Other commands refuse: DATA_DIR may be mistyped. */
  readonly createsDatabase?: true;
  /** Runs instead of `run` if the configuration is wrong. Without it the command fails. */
  readonly runMisconfigured?: (problem: string) => Promise<Result<Output, CommandError>>;
  /** Resolves to the output or an error. `undefined` prints nothing. */
  run(
    service: Service,
    values: Values,
  ): Promise<Result<Output | undefined, CommandError>> | ResultAsync<Output | undefined, CommandError>;
};

/** Returns the value of a required option. `main` has checked that it is there. */
export const textOf = (values: Values, option: string): string => {
  const value = values[option];
  if (typeof value !== "string") throw new Error(`Bug: --${option} is read as text but has no text value`);
  return value;
};

export const optionalText = (values: Values, option: string): string | undefined =>
  values[option] === undefined ? undefined : textOf(values, option);

/** The options that several commands have. */
export const ACCOUNT = { account: { type: "string", about: "id of the account" } } as const;
export const REASON = { reason: { type: "string", about: "shown to the account owner, 1 to 200 characters" } } as const;

/** The beginning of the day of `--from`, in UTC, or the time that it names. `undefined` without the option. */
export const fromOf = (values: Values): Result<Date | undefined, CommandError> => {
  const given = optionalText(values, "from");
  if (given === undefined) return ok(undefined);
  const from = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(given) ? new Date(given) : new Date(Number.NaN);
  return Number.isNaN(from.getTime()) ? err(misused("--from must be a date, such as 2026-05-03.")) : ok(from);
};
