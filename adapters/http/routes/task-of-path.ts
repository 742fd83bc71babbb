import { err, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import { parseTaskId, type TaskId } from "../../../domain/ids.js";
import { shown } from "../../wording/shown.js";
import type { Exchange } from "../requests/exchange.js";

/** The task of the path; `undefined` if the text cannot be a task id. */
export const taskIdOf = (exchange: Exchange): TaskId | undefined => parseTaskId(exchange.parameter("id"));

/** The answer to a path without a task of the account. */
export const unknownTask = (exchange: Exchange): Result<never, NotFound> =>
  err(notFound(`There is no task ${shown(exchange.parameter("id"))} on this account.`));
