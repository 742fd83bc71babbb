import { err, ok } from "neverthrow";
import type { HeldKeys } from "../../application/accounts/held-keys.js";
import type { WaitForTask } from "../../application/panoramas/wait-for-task.js";
import type { Task } from "../../domain/task.js";
import { parseTaskId, type TaskId } from "../../domain/task-id.js";
import type { Unauthenticated } from "./errors.js";
import type { Exchange } from "./exchange.js";
import type { GuardedHandler } from "./guard.js";
import { HeldWaits } from "./held-waits.js";
import { panoramaTask, type TaskUrls } from "./panorama-task.js";
import { preferredWaitSeconds } from "./prefer.js";
import { json, type Reply } from "./reply.js";
import { unknownTask } from "./unknown-task.js";

/** The task of the path; `undefined` if the text cannot be a task id. */
export const taskIdOf = (exchange: Exchange): TaskId | undefined => parseTaskId(exchange.parameter("id"));

const KEY_HAS_ENDED: Unauthenticated = {
  kind: "invalid_api_key",
  message: "This API key was revoked or changed, or has expired, while the request waited.",
};

/**
 * `GET /panoramas/{id}`. With `Prefer: wait`, answers when the task leaves `processing`; at once, and without
 * `Preference-Applied`, if the account already holds too many waits.
 */
export const readPanoramaRoute = (
  waitForTask: WaitForTask,
  heldKeys: Pick<HeldKeys, "hold">,
  urls: TaskUrls,
): GuardedHandler => {
  const waits = new HeldWaits();
  // A task is a value: as long as the store remembers it, its answer is the same bytes.
  const answers = new WeakMap<Task, Reply>();
  const answerOf = (task: Task): Reply => {
    let answer = answers.get(task);
    if (answer === undefined) {
      const { body, ...reply } = json(200, panoramaTask(task, urls));
      answer = { ...reply, body: Buffer.from(body) };
      answers.set(task, answer);
    }
    return answer;
  };
  return (exchange, owner, task, apiKey) => {
    if (task === undefined) return unknownTask(exchange);
    const seconds = preferredWaitSeconds(exchange.header("prefer"));
    if (seconds === undefined) return ok(answerOf(task));
    const held = waits.hold(owner, async () => {
      const key = heldKeys.hold(apiKey, exchange.signal);
      const waited = await waitForTask(task.id, owner, seconds * 1000, key.signal).finally(key.release);
      return key.hasEnded() ? err(KEY_HAS_ENDED) : waited;
    });
    if (held === undefined) return ok(answerOf(task));
    exchange.isIdle = true;
    const headers = { "preference-applied": `wait=${seconds}` };
    return held.then((waited) => waited.map((found) => json(200, panoramaTask(found, urls), headers)));
  };
};
