import type { ParseArgsConfig } from "node:util";
import type { Result, ResultAsync } from "neverthrow";
import type { Service } from "../service.js";

/** What a command prints: `json` with `--json`, else `lines`. `failed` sets the exit status although there is output. */
export type Output = { readonly json: object; readonly lines: readonly string[]; readonly failed?: boolean };

/** The values of a command's options. */
export type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

export type Command = {
  /** Its words on the command line, such as `account create`. */
  readonly words: string;
  /** Its options, as the help shows them. */
  readonly usage: string;
  readonly options: NonNullable<ParseArgsConfig["options"]>;
  /** The value that takes the one word which is no option, if the command takes one. */
  readonly positional?: string;
  /** Options without which it does not run. */
  readonly required: readonly string[];
  /** Nothing is printed at its end if it has no output. An error is one line for the operator. */
  run(
    service: Service,
    values: Values,
  ): Promise<Result<Output | undefined, string>> | ResultAsync<Output | undefined, string>;
};

export const text = (values: Values, option: string): string => {
  const value = values[option];
  if (typeof value !== "string") throw new Error(`--${option} is required, and checked before the command runs`);
  return value;
};

export const optionalText = (values: Values, option: string): string | undefined =>
  values[option] === undefined ? undefined : text(values, option);
