import { rulePredicate } from "../../../adapters/wording/rule-predicate.js";
import type { NotFound } from "../../../application/errors.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { type CommandError, misused } from "../../command-error.js";

/** The error if an option breaks a rule; options have the names of their fields, with hyphens. */
export const invalidOption = ({ field, rule }: InvalidRequest): CommandError =>
  misused(`--${field.replaceAll("_", "-")} ${rulePredicate(rule)}`);

/** The error if there is no such thing, or if an option breaks a rule. */
export const notFoundOrInvalid = (error: NotFound | InvalidRequest): CommandError =>
  error.kind === "not_found" ? error : invalidOption(error);

/** The error if the password breaks a rule. It does not contain the password. */
export const invalidPassword = ({ rule }: InvalidRequest): CommandError =>
  misused(`The password ${rulePredicate(rule)}`);
