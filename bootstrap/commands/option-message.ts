import { rulePredicate } from "../../adapters/wording/rule-predicate.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";

/** The line for the operator if an option breaks a rule; options have the names of their fields, with hyphens. */
export const optionMessage = ({ field, rule }: InvalidRequest): string =>
  `--${field.replaceAll("_", "-")} ${rulePredicate(rule)}`;
