import type { DeletePanorama } from "../../application/panoramas/delete-panorama.js";
import { invalidRequest } from "../../domain/invalid-request.js";
import type { GuardedHandler } from "./guard.js";
import { taskIdOf } from "./read-panorama-route.js";
import { NO_CONTENT } from "./reply.js";
import { unknownTask } from "./unknown-task.js";

/** `DELETE /panoramas/{id}`: also succeeds if the panorama is deleted already. */
export const deletePanoramaRoute =
  (deletePanorama: DeletePanorama): GuardedHandler =>
  async (exchange, owner) => {
    const id = taskIdOf(exchange);
    if (id === undefined) return unknownTask(exchange);
    const deleted = await deletePanorama(id, owner);
    return deleted
      .map(() => NO_CONTENT)
      .mapErr((refusal) =>
        refusal.kind === "not_finished" ? invalidRequest("id", { name: "not_finished" }) : refusal,
      );
  };
