import type { UseCases } from "../../../application/create-application.js";
import { panoramaTask, type TaskUrls } from "../../../application/events/panorama-task.js";
import { json } from "../replies/reply.js";
import type { GuardedHandler } from "./guard.js";
import { taskIdOf, unknownTask } from "./task-of-path.js";

/** `POST /panoramas/{id}/cancel`: answers with the task as it is afterwards, canceled or not. */
export const cancelPanoramaRoute =
  (panoramas: Pick<UseCases["panoramas"], "cancel">, urls: TaskUrls): GuardedHandler =>
  async (exchange, owner) => {
    const id = taskIdOf(exchange);
    if (id === undefined) return unknownTask(exchange);
    return (await panoramas.cancel(id, owner)).map((task) => json(200, panoramaTask(task, urls)));
  };
