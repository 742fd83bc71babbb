import type { Result } from "neverthrow";
import type { Task } from "../../domain/tasks/task.js";
import type { NotFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";
import type { GalleryChoice, TaskStore } from "../ports/stores/tasks/task-store.js";
import { actOnPanorama } from "./act-on-panorama.js";

type Ports = {
  readonly operators: Pick<OperatorStore, "record">;
  readonly tasks: Pick<TaskStore, "choose">;
  readonly clock: Pick<Clock, "now">;
};

/** For the operator: chooses a panorama of the gallery, by its slug or id, or ends the choice. */
export const choosePanorama =
  ({ operators, tasks, clock }: Ports) =>
  (slugOrId: string, choice: GalleryChoice, isChosen: boolean): Promise<Result<Task, NotFound>> =>
    actOnPanorama(operators, slugOrId, `There is no public panorama ${slugOrId} with a stored image.`, (id) =>
      tasks.choose(id, choice, isChosen ? clock.now() : undefined),
    );
