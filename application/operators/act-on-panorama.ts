import { err, type Result } from "neverthrow";
import type { TaskId } from "../../domain/task-id.js";
import type { Task } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";

/**
 * Acts on the panorama that has this slug or id. Resolves to its task, or to the refusal if there is none, or none that
 * `act` can act on.
 */
export const actOnPanorama = async (
  operators: Pick<OperatorStore, "record">,
  slugOrId: string,
  refusal: string,
  act: (id: TaskId) => Promise<Result<unknown, unknown>>,
): Promise<Result<Task, NotFound>> => {
  const record = await operators.record(slugOrId);
  if (record === undefined) return err(notFound(refusal));
  return (await act(record.task.id)).map(() => record.task).mapErr(() => notFound(refusal));
};
