import { err, ok } from "neverthrow";
import * as z from "zod";
import { whenReady } from "../../../application/awaitable.js";
import type { UseCases } from "../../../application/create-application.js";
import { panoramaTask, type TaskUrls } from "../../../application/events/panorama-task.js";
import { RESOLUTION_NAMES } from "../../../domain/images/resolution.js";
import { invalidRequest } from "../../../domain/invalid-request.js";
import { IMAGE_URLS_MAX, PROMPT_CHARACTERS_MAX } from "../../../domain/tasks/abilities.js";
import { deletedByKey } from "../../../domain/tasks/out-of-sight.js";
import type { Task } from "../../../domain/tasks/task.js";
import { abilitiesJson } from "../../client/offer.js";
import { OpenWaits } from "../limits/open-requests.js";
import type { Unauthenticated } from "../replies/errors.js";
import { json, NO_CONTENT } from "../replies/reply.js";
import { canceledTaskSchema } from "../replies/task-schemas.js";
import { preferredWaitSeconds } from "../requests/request-headers.js";
import { type GuardedHandler, type TaskHandler, taskIdOf, unknownTask } from "./guard.js";

const KEY_HAS_ENDED: Unauthenticated = {
  kind: "invalid_api_key",
  message: "This API key was revoked or changed, or has expired, while the request waited.",
};

/**
 * `GET /panoramas/{id}`. With `Prefer: wait`, answers when the task leaves `processing`; at once, and without
 * `Preference-Applied`, if the account already holds too many waits.
 */
export function readPanoramaRoute(
  accounts: UseCases["accounts"],
  panoramas: UseCases["panoramas"],
  urls: TaskUrls,
): TaskHandler {
  const waits = new OpenWaits();
  const answer = (task: Task) =>
    whenReady(panoramas.forecast(task), (forecast) => ok(json(200, panoramaTask(task, urls, forecast))));
  return (exchange, task, apiKey) => {
    const seconds = preferredWaitSeconds(exchange.header("prefer"));
    if (seconds === undefined) return answer(task);
    const wait = waits.run(task.accountId, async () => {
      const key = accounts.watchKey(apiKey, exchange.signal);
      const waited = await panoramas.waitFor(task.id, task.accountId, seconds * 1000, key.signal).finally(key.release);
      return key.isKeyUnusable() ? err(KEY_HAS_ENDED) : waited;
    });
    if (wait === undefined) return answer(task);
    exchange.isIdle = true;
    const headers = { "preference-applied": `wait=${seconds}` };
    return wait.then(async (waited) => {
      if (waited.isErr()) return err(waited.error);
      const forecast = await panoramas.forecast(waited.value);
      return ok(json(200, panoramaTask(waited.value, urls, forecast), headers));
    });
  };
}

/**
 * `POST /panoramas/{id}/cancel`: answers with the task as it is afterwards, canceled or not. A key without the scope
 * `read` gets no more of the task than its end.
 */
export function cancelPanoramaRoute(panoramas: UseCases["panoramas"], urls: TaskUrls): GuardedHandler {
  return async (exchange, { accountId: owner, key }) => {
    const id = taskIdOf(exchange);
    if (id === undefined) return unknownTask(exchange);
    return (await panoramas.cancel(id, owner)).map((task) => {
      const shown = panoramaTask(task, urls);
      return json(200, key.mayRead === false ? canceledTaskSchema.parse(shown) : shown);
    });
  };
}

/** `DELETE /panoramas/{id}`: also succeeds if the panorama is deleted already. */
export function deletePanoramaRoute(panoramas: UseCases["panoramas"]): GuardedHandler {
  return async (exchange, { accountId: owner, key }) => {
    const id = taskIdOf(exchange);
    if (id === undefined) return unknownTask(exchange);
    const deleted = await panoramas.delete(id, owner, deletedByKey(key.id));
    return deleted
      .map(() => NO_CONTENT)
      .mapErr((refusal) =>
        refusal.kind === "not_finished" ? invalidRequest("id", { name: "not_finished" }) : refusal,
      );
  };
}

const images = z.int().min(0).max(IMAGE_URLS_MAX);

/** Answer of `GET /abilities`. */
export const abilitiesResponseSchema = z
  .object({
    images_min: images.meta({
      description: "The fewest image_urls of a creation: with 1, a prompt alone is not enough.",
    }),
    images_max: images.meta({ description: "The most image_urls of a creation." }),
    prompt_characters_max: z
      .int()
      .min(1)
      .max(PROMPT_CHARACTERS_MAX)
      .meta({ description: "The longest prompt, in characters." }),
    resolutions: z.array(z.enum(RESOLUTION_NAMES)).meta({ description: "The sizes that can be created." }),
  })
  .meta({ id: "AbilitiesResponse" });

/** `GET /abilities`. */
export function readAbilitiesRoute(panoramas: UseCases["panoramas"]): GuardedHandler {
  return () => {
    const body: z.infer<typeof abilitiesResponseSchema> = abilitiesJson(panoramas.readAbilities());
    return ok(json(200, body));
  };
}
