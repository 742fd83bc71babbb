import { err, type Result } from "neverthrow";
import type { Task } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";
import type { GalleryChoice, TaskStore } from "../ports/stores/tasks/task-store.js";

type Ports = {
  readonly operators: Pick<OperatorStore, "record">;
  readonly tasks: Pick<TaskStore, "choose">;
  readonly clock: Pick<Clock, "now">;
};

/** For the operator: chooses a panorama of the gallery, by its slug or id, or ends the choice. */
export const choosePanorama =
  ({ operators, tasks, clock }: Ports) =>
  async (slugOrId: string, choice: GalleryChoice, isChosen: boolean): Promise<Result<Task, NotFound>> => {
    const refused = notFound(`There is no public panorama ${slugOrId} with a stored image.`);
    const record = await operators.record(slugOrId);
    if (record === undefined) return err(refused);
    const chosen = await tasks.choose(record.task.id, choice, isChosen ? clock.now() : undefined);
    return chosen.map(() => record.task).mapErr(() => refused);
  };
