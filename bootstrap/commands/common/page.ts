import { err, ok, type Result } from "neverthrow";
import { type CommandError, misused } from "../../command-error.js";
import { type Option, optionalText, type Values } from "./command.js";

const LIMIT_MAX = 1000;

/** The option of commands that list something in pages. */
export const LIMIT: Readonly<Record<"limit", Option>> = {
  limit: { type: "string", default: "50", about: `maximum number of rows, 1 to ${LIMIT_MAX}` },
};

export const limitOf = (values: Values): Result<number, CommandError> => {
  const limit = Number(optionalText(values, "limit"));
  return Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX
    ? ok(limit)
    : err(misused(`--limit must be an integer from 1 to ${LIMIT_MAX}.`));
};

/** The last line of a page that is not the last one. */
export const nextLine = (next: string | number | undefined): string[] =>
  next === undefined ? [] : [`older ones: add --before ${next}`];
