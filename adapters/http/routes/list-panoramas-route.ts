import { createHash } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type { UseCases } from "../../../application/create-application.js";
import { panoramaTask, type TaskUrls } from "../../../application/events/panorama-task.js";
import { parseTaskId, type TaskId } from "../../../domain/ids.js";
import { type InvalidRequest, invalidRequest } from "../../../domain/invalid-request.js";
import { panoramaTaskSchema } from "../../../domain/tasks/panorama-task.js";
import { filterText, type TaskFilter } from "../../../domain/tasks/task-filter.js";
import { json } from "../replies/reply.js";
import { parseTaskFilter } from "../requests/task-filter-query.js";
import type { GuardedHandler } from "./guard.js";

export const PAGE_LIMIT_MAX = 100;
const PAGE_LIMIT_DEFAULT = 20;

/** `items`: what the page has. */
export const pageQuery = (items: string) =>
  z.object({
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(PAGE_LIMIT_MAX)
      .default(PAGE_LIMIT_DEFAULT)
      .meta({ description: `The maximum number of ${items} on the page.` }),
    cursor: z.string().optional().meta({ description: "The next_cursor of the previous page." }),
  });

export const pageQuerySchema = pageQuery("tasks");

/** Any text is a cursor for the schema, so the limit is wrong. */
export const invalidLimit = (parameters: URLSearchParams): InvalidRequest => {
  const actual = parameters.getAll("limit").at(-1);
  return invalidRequest("limit", { name: "integer", min: 1, max: PAGE_LIMIT_MAX, actual });
};

export const taskPageSchema = z
  .object({
    data: z.array(panoramaTaskSchema).max(PAGE_LIMIT_MAX),
    next_cursor: z.string().nullable().meta({ description: "null on the last page." }),
  })
  .meta({ id: "PanoramaTaskPage" });

/** `GET /panoramas`: the tasks of the account that match the filters, newest first. */
export const listPanoramasRoute =
  (panoramas: Pick<UseCases["panoramas"], "list">, urls: TaskUrls): GuardedHandler =>
  async (exchange, { accountId: owner }) => {
    const parameters = exchange.query;
    const query = pageQuerySchema.safeParse(Object.fromEntries(parameters));
    if (!query.success) return err(invalidLimit(parameters));
    const filter = parseTaskFilter(parameters);
    if (filter.isErr()) return err(filter.error);
    const before = parseCursor(query.data.cursor, filter.value);
    if (before.isErr()) return err(before.error);

    const { tasks, next } = await panoramas.list(owner, query.data.limit, {
      before: before.value,
      filter: filter.value,
    });
    const page: z.infer<typeof taskPageSchema> = {
      data: tasks.map((task) => panoramaTask(task, urls)),
      next_cursor: next === undefined ? null : cursorOf(next, filter.value),
    };
    return ok(json(200, page));
  };

/** The id of the last task of the page, and which filters the list has. Without filters it is the id alone. */
const cursorOf = (last: TaskId, filter: TaskFilter): string => {
  const mark = filterMark(filter);
  return mark === undefined ? last : `${last}.${mark}`;
};

const parseCursor = (text: string | undefined, filter: TaskFilter): Result<TaskId | undefined, InvalidRequest> => {
  if (text === undefined) return ok(undefined);
  const [idText = "", mark, ...rest] = text.split(".");
  const id = parseTaskId(idText);
  if (id === undefined || rest.length > 0) return err(invalidRequest("cursor", { name: "cursor", actual: text }));
  return mark === filterMark(filter) ? ok(id) : err(invalidRequest("cursor", { name: "cursor_filters" }));
};

const filterMark = (filter: TaskFilter): string | undefined => {
  const text = filterText(filter);
  return text === undefined ? undefined : createHash("sha256").update(text).digest("base64url").slice(0, 16);
};
