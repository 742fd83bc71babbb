import { err, ok } from "neverthrow";
import { z } from "zod";
import type { ListTasks } from "../../application/panoramas/list-tasks.js";
import { invalidBySchema, shown } from "../../domain/invalid-request.js";
import { parseTaskId } from "../../domain/task-id.js";
import type { GuardedHandler } from "./guard.js";
import { panoramaTask, panoramaTaskSchema, type TaskUrls } from "./panorama-task.js";
import { json } from "./reply.js";

const PAGE_LIMIT_MAX = 100;
const PAGE_LIMIT_DEFAULT = 20;

const limitError = `must be an integer from 1 to ${PAGE_LIMIT_MAX}.`;

export const pageQuerySchema = z.object({
  limit: z.coerce
    .number(limitError)
    .int(limitError)
    .min(1, limitError)
    .max(PAGE_LIMIT_MAX, limitError)
    .default(PAGE_LIMIT_DEFAULT)
    .meta({ description: "The maximum number of tasks on the page." }),
  cursor: z
    .string()
    .transform((text, context) => {
      const id = parseTaskId(text);
      if (id !== undefined) return id;
      context.addIssue({
        code: "custom",
        message: `must be a next_cursor of an earlier answer, but is ${shown(text)}.`,
      });
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

/** `GET /panoramas`: the tasks of the account, newest first. */
export const listPanoramasRoute =
  (listTasks: ListTasks, urls: TaskUrls): GuardedHandler =>
  async (exchange, owner) => {
    const query = pageQuerySchema.safeParse(Object.fromEntries(exchange.query));
    if (!query.success) return err(invalidBySchema(query.error, "query"));
    const { tasks, next } = await listTasks(owner, query.data.limit, query.data.cursor);
    const page: z.infer<typeof taskPageSchema> = {
      data: tasks.map((task) => panoramaTask(task, urls)),
      next_cursor: next ?? null,
    };
    return ok(json(200, page));
  };
