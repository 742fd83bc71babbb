import type { CancelTask } from "../../application/panoramas/cancel-task.js";
import type { GuardedHandler } from "./guard.js";
import { panoramaTask, type TaskUrls } from "./panorama-task.js";
import { taskIdOf } from "./read-panorama-route.js";
import { json } from "./reply.js";
import { unknownTask } from "./unknown-task.js";

/** `POST /panoramas/{id}/cancel`: answers with the task as it is afterwards, canceled or not. */
export const cancelPanoramaRoute =
  (cancelTask: CancelTask, urls: TaskUrls): GuardedHandler =>
  async (exchange, owner) => {
    const id = taskIdOf(exchange);
    if (id === undefined) return unknownTask(exchange);
    return (await cancelTask(id, owner)).map((task) => json(200, panoramaTask(task, urls)));
  };
