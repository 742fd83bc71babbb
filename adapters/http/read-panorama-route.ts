import { err } from "neverthrow";
import { notFound } from "../../application/errors.js";
import type { ReadTask } from "../../application/panoramas/read-task.js";
import type { WaitForTask } from "../../application/panoramas/wait-for-task.js";
import { parseTaskId } from "../../domain/task-id.js";
import { shown } from "../wording/shown.js";
import type { GuardedHandler } from "./guard.js";
import { panoramaTask, type TaskUrls } from "./panorama-task.js";
import { preferredWaitSeconds } from "./prefer.js";
import { json } from "./reply.js";

/** `GET /panoramas/{id}`. With `Prefer: wait`, answers when the task leaves `processing`. */
export const readPanoramaRoute =
  (readTask: ReadTask, waitForTask: WaitForTask, urls: TaskUrls): GuardedHandler =>
  async (exchange, owner) => {
    const text = exchange.parameter("id");
    const id = parseTaskId(text);
    if (id === undefined) return err(notFound(`There is no task ${shown(text)} on this account.`));

    const seconds = preferredWaitSeconds(exchange.header("prefer"));
    const task =
      seconds === undefined ? await readTask(id, owner) : await waitForTask(id, owner, seconds * 1000, exchange.signal);
    return task.map((found) =>
      json(
        200,
        panoramaTask(found, urls),
        seconds === undefined ? undefined : { "preference-applied": `wait=${seconds}` },
      ),
    );
  };
