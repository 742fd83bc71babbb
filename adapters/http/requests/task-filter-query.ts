import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import { type InvalidRequest, invalidRequest } from "../../../domain/invalid-request.js";
import { brokenMetadataRule } from "../../../domain/tasks/metadata.js";
import { TASK_STATUSES } from "../../../domain/tasks/public-reason.js";
import type { TaskFilter } from "../../../domain/tasks/task-filter.js";
import { VISIBILITIES } from "../../../domain/tasks/visibility.js";
import { METADATA_PREFIX } from "./list-query.js";

/** The last millisecond that every database stores. */
const LATEST_MILLISECONDS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

const time = (description: string) =>
  z.iso
    .datetime({ offset: true })
    .transform((text, context) => {
      const date = new Date(text);
      if (date.getTime() >= 0 && date.getTime() <= LATEST_MILLISECONDS) return date;
      context.addIssue({ code: "custom" });
      return z.NEVER;
    })
    .optional()
    .meta({ description });

/** The filters of the list with a name of their own. OpenAPI cannot describe the names `metadata.KEY`. */
export const filterParameters = {
  status: z.enum(TASK_STATUSES).optional().meta({ description: "Only tasks with this status." }),
  visibility: z.enum(VISIBILITIES).optional().meta({ description: "Only tasks with this visibility." }),
  created_after: time("Only tasks created later than this (RFC 3339)."),
  created_before: time("Only tasks created earlier than this (RFC 3339)."),
};

const filterSchema = z.object(filterParameters);

/** Parses the filters in the query of `GET /panoramas`. */
export const parseTaskFilter = (query: URLSearchParams): Result<TaskFilter, InvalidRequest> => {
  const parameters = Object.fromEntries(query);
  const parsed = filterSchema.safeParse(parameters);
  if (!parsed.success) return err(refusalOf(String(parsed.error.issues[0]?.path[0]), parameters));
  const pairs = Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    name.startsWith(METADATA_PREFIX) ? [[name.slice(METADATA_PREFIX.length), value]] : [],
  );
  const metadata = Object.fromEntries(pairs);
  const broken = brokenMetadataRule(metadata);
  if (broken !== undefined) return err(invalidRequest("metadata", broken));
  const { status, visibility, created_after: createdAfter, created_before: createdBefore } = parsed.data;
  return ok({
    ...(status !== undefined && { status }),
    ...(visibility !== undefined && { visibility }),
    ...(createdAfter !== undefined && { createdAfter }),
    ...(createdBefore !== undefined && { createdBefore }),
    ...(pairs.length > 0 && { metadata }),
  });
};

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  status: TASK_STATUSES,
  visibility: VISIBILITIES,
};

const refusalOf = (name: string, parameters: Readonly<Record<string, string>>): InvalidRequest => {
  const actual = parameters[name] ?? "";
  const allowed = ALLOWED[name];
  return invalidRequest(name, allowed ? { name: "one_of", allowed, actual } : { name: "date_time", actual });
};
