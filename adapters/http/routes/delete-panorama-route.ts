import type { UseCases } from "../../../application/create-application.js";
import { invalidRequest } from "../../../domain/invalid-request.js";
import { deletedByKey } from "../../../domain/tasks/out-of-sight.js";
import { NO_CONTENT } from "../replies/reply.js";
import type { GuardedHandler } from "./guard.js";
import { taskIdOf, unknownTask } from "./task-of-path.js";

/** `DELETE /panoramas/{id}`: also succeeds if the panorama is deleted already. */
export const deletePanoramaRoute =
  (panoramas: Pick<UseCases["panoramas"], "delete">): GuardedHandler =>
  async (exchange, owner, { id: keyId }) => {
    const id = taskIdOf(exchange);
    if (id === undefined) return unknownTask(exchange);
    const deleted = await panoramas.delete(id, owner, deletedByKey(keyId));
    return deleted
      .map(() => NO_CONTENT)
      .mapErr((refusal) =>
        refusal.kind === "not_finished" ? invalidRequest("id", { name: "not_finished" }) : refusal,
      );
  };
