import { err, ok } from "neverthrow";
import type * as z from "zod";
import { whenReady } from "../../../application/awaitable.js";
import type { UseCases } from "../../../application/create-application.js";
import { panoramaTask, type TaskUrls } from "../../../application/events/panorama-task.js";
import type { TaskForecast } from "../../../application/panoramas/forecast-task.js";
import type { Task } from "../../../domain/tasks/task.js";
import { HeldWaits } from "../limits/held-waits.js";
import type { Unauthenticated } from "../replies/errors.js";
import { type panoramaTaskSchema, shownForecast } from "../replies/panorama-task.js";
import { json } from "../replies/reply.js";
import { preferredWaitSeconds } from "../requests/prefer.js";
import type { TaskHandler } from "./guard.js";

const KEY_HAS_ENDED: Unauthenticated = {
  kind: "invalid_api_key",
  message: "This API key was revoked or changed, or has expired, while the request waited.",
};

/**
 * `GET /panoramas/{id}`. With `Prefer: wait`, answers when the task leaves `processing`; at once, and without
 * `Preference-Applied`, if the account already holds too many waits.
 */
export const readPanoramaRoute = (
  accounts: Pick<UseCases["accounts"], "holdKey">,
  panoramas: Pick<UseCases["panoramas"], "waitFor" | "forecast">,
  urls: TaskUrls,
): TaskHandler => {
  const waits = new HeldWaits();
  const bodyOf = (task: Task, forecast: TaskForecast): z.infer<typeof panoramaTaskSchema> => ({
    ...panoramaTask(task, urls),
    ...shownForecast(task, forecast),
  });
  const answer = (task: Task) =>
    whenReady(panoramas.forecast(task), (forecast) => ok(json(200, bodyOf(task, forecast))));
  return (exchange, task, apiKey) => {
    const seconds = preferredWaitSeconds(exchange.header("prefer"));
    if (seconds === undefined) return answer(task);
    const held = waits.hold(task.accountId, async () => {
      const key = accounts.holdKey(apiKey, exchange.signal);
      const waited = await panoramas.waitFor(task.id, task.accountId, seconds * 1000, key.signal).finally(key.release);
      return key.hasEnded() ? err(KEY_HAS_ENDED) : waited;
    });
    if (held === undefined) return answer(task);
    exchange.isIdle = true;
    const headers = { "preference-applied": `wait=${seconds}` };
    return held.then(async (waited) => {
      if (waited.isErr()) return err(waited.error);
      const forecast = await panoramas.forecast(waited.value);
      return ok(json(200, bodyOf(waited.value, forecast), headers));
    });
  };
};
