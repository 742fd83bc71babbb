import { err, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import { shown } from "../wording/shown.js";
import type { Exchange } from "./exchange.js";

/** The answer to a path without a task of the account. */
export const unknownTask = (exchange: Exchange): Result<never, NotFound> =>
  err(notFound(`There is no task ${shown(exchange.parameter("id"))} on this account.`));
