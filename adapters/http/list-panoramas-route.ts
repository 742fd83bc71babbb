import { err, ok } from "neverthrow";
import { z } from "zod";
import type { ListTasks } from "../../application/panoramas/list-tasks.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import { parseTaskId } from "../../domain/task-id.js";
import type { GuardedHandler } from "./guard.js";
import { panoramaTask, panoramaTaskSchema, type TaskUrls } from "./panorama-task.js";
import { json } from "./reply.js";

const PAGE_LIMIT_MAX = 100;
const PAGE_LIMIT_DEFAULT = 20;

export const pageQuerySchema = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(PAGE_LIMIT_MAX)
    .default(PAGE_LIMIT_DEFAULT)
    .meta({ description: "The maximum number of tasks on the page." }),
  cursor: z
    .string()
    .transform((text, context) => {
      const id = parseTaskId(text);
      if (id !== undefined) return id;
      context.addIssue({ code: "custom" });
      return z.NEVER;
    })
    .optional()
    .meta({ description: "The next_cursor of the previous page." }),
});

export const taskPageSchema = z
  .object({
    data: z.array(panoramaTaskSchema).max(PAGE_LIMIT_MAX),
    next_cursor: z.string().nullable().meta({ description: "null on the last page." }),
  })
  .meta({ id: "PanoramaTaskPage" });

const refusalOf = ({ issues }: z.ZodError, { limit, cursor }: Record<string, string>): InvalidRequest =>
  issues[0]?.path[0] === "limit"
    ? invalidRequest("limit", { name: "integer", min: 1, max: PAGE_LIMIT_MAX, actual: limit })
    : invalidRequest("cursor", { name: "cursor", actual: cursor ?? "" });

/** `GET /panoramas`: the tasks of the account, newest first. */
export const listPanoramasRoute =
  (listTasks: ListTasks, urls: TaskUrls): GuardedHandler =>
  async (exchange, owner) => {
    const parameters = Object.fromEntries(exchange.query);
    const query = pageQuerySchema.safeParse(parameters);
    if (!query.success) return err(refusalOf(query.error, parameters));
    const { tasks, next } = await listTasks(owner, query.data.limit, query.data.cursor);
    const page: z.infer<typeof taskPageSchema> = {
      data: tasks.map((task) => panoramaTask(task, urls)),
      next_cursor: next ?? null,
    };
    return ok(json(200, page));
  };
