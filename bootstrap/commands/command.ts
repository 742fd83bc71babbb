import type { ParseArgsConfig } from "node:util";
import type { Result, ResultAsync } from "neverthrow";
import type { Service } from "../service.js";

/** What a command prints: `json` with `--json`, else `lines`. With `failed` the exit status is 1. */
export type Output = { readonly json: object; readonly lines: readonly string[]; readonly failed?: boolean };

/** The values of a command's options, by option name. */
export type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export type Command = {
  /** The words that select it on the command line, such as `account create`. */
  readonly words: string;
  /** Its options and arguments, as the help shows them. */
  readonly usage: string;
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  /** The name in `Values` of the positional argument, if the command takes one. */
  readonly positional?: string;
  readonly required: readonly string[];
  /** A REST client. It may run on another machine than the service, and the files that it writes are the user's. */
  readonly isClient?: true;
  /** Resolves to what is printed, or to an error of one line. With `undefined` nothing is printed. */
  run(
    service: Service,
    values: Values,
  ): Promise<Result<Output | undefined, string>> | ResultAsync<Output | undefined, string>;
};

/** Returns the value of a required option. `main` has checked that it is there. */
export const text = (values: Values, option: string): string => {
  const value = values[option];
  if (typeof value !== "string") throw new Error(`Bug: --${option} is read as text but has no text value`);
  return value;
};

export const optionalText = (values: Values, option: string): string | undefined =>
  values[option] === undefined ? undefined : text(values, option);
