import { err, ok, type Result } from "neverthrow";
import { type CommandError, misused } from "../../command-error.js";
import { optionalText, type Values } from "./command.js";

/** The beginning of the day of `--from`, in UTC, or the time that it names. `undefined` without the option. */
export const fromOf = (values: Values): Result<Date | undefined, CommandError> => {
  const given = optionalText(values, "from");
  if (given === undefined) return ok(undefined);
  const from = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(given) ? new Date(given) : new Date(Number.NaN);
  return Number.isNaN(from.getTime()) ? err(misused("--from must be a date, such as 2026-05-03.")) : ok(from);
};
