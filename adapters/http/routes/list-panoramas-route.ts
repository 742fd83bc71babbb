import { err, ok } from "neverthrow";
import * as z from "zod";
import type { UseCases } from "../../../application/create-application.js";
import { panoramaTask, type TaskUrls } from "../../../application/events/panorama-task.js";
import { parseTaskId } from "../../../domain/ids.js";
import { type InvalidRequest, invalidRequest } from "../../../domain/invalid-request.js";
import { filterText } from "../../../domain/tasks/task-filter.js";
import { cursorOf, placeIn } from "../../web-page/cursor.js";
import { json } from "../replies/reply.js";
import { panoramaTaskSchema } from "../replies/task-schemas.js";
import { listQuery } from "../requests/list-query.js";
import { filterParameters, parseTaskFilter } from "../requests/task-filter-query.js";
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

const PARAMETERS = [...Object.keys({ ...pageQuerySchema.shape, ...filterParameters }), "metadata.KEY"];

/** Any text is a cursor for the schema, so the limit is wrong. */
export function invalidLimit(parameters: URLSearchParams): InvalidRequest {
  const actual = parameters.getAll("limit").at(-1);
  return invalidRequest("limit", { name: "integer", min: 1, max: PAGE_LIMIT_MAX, actual });
}

/** The cursor was not given by this list with these filters. */
export const invalidCursor = (actual: string): InvalidRequest => invalidRequest("cursor", { name: "cursor", actual });

export const taskPageSchema = z
  .object({
    data: z.array(panoramaTaskSchema).max(PAGE_LIMIT_MAX),
    next_cursor: z.string().nullable().meta({ description: "null on the last page." }),
  })
  .meta({ id: "PanoramaTaskPage" });

/** `GET /panoramas`: the tasks of the account that match the filters, newest first. */
export function listPanoramasRoute(panoramas: UseCases["panoramas"], urls: TaskUrls): GuardedHandler {
  return async (exchange, { accountId: owner }) => {
    const sent = listQuery(exchange.query, PARAMETERS);
    if (sent.isErr()) return err(sent.error);
    const parameters = sent.value;
    const query = pageQuerySchema.safeParse(Object.fromEntries(parameters));
    if (!query.success) return err(invalidLimit(parameters));
    const filter = parseTaskFilter(parameters);
    if (filter.isErr()) return err(filter.error);
    const list = `panoramas ${filterText(filter.value) ?? ""}`;
    const { limit, cursor } = query.data;
    const before = cursor === undefined ? undefined : parseTaskId(placeIn(list, cursor) ?? "");
    if (cursor !== undefined && before === undefined) return err(invalidCursor(cursor));

    const { tasks, next } = await panoramas.list(owner, limit, { before, filter: filter.value });
    const page: z.infer<typeof taskPageSchema> = {
      data: tasks.map((task) => panoramaTask(task, urls)),
      next_cursor: next === undefined ? null : cursorOf(list, next),
    };
    return ok(json(200, page));
  };
}
