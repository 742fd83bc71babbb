import { err, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import { isVisible } from "../../domain/storable-text.js";
import type { Task } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { OperatorStore } from "../ports/stores/operator-store.js";
import type { TaskStore } from "../ports/stores/task-store.js";

type Ports = {
  readonly operators: Pick<OperatorStore, "record">;
  readonly tasks: Pick<TaskStore, "withhold">;
  readonly clock: Pick<Clock, "now">;
};

const REASON_CHARACTERS_MAX = 200;

/**
 * For the operator: hides a public panorama, by its slug or id, from everybody but its owner, who is told the reason.
 * Without a reason, shows it again. Whoever knows the URL of the image may still open it: objects never change.
 */
export const withholdPanorama =
  ({ operators, tasks, clock }: Ports) =>
  async (slugOrId: string, given: string | undefined): Promise<Result<Task, NotFound | InvalidRequest>> => {
    const reason = given?.trim();
    if (reason !== undefined && !isVisible(reason, REASON_CHARACTERS_MAX)) {
      const rule = { name: "visible_characters", min: 1, max: REASON_CHARACTERS_MAX, actual: reason } as const;
      return err(invalidRequest("reason", rule));
    }
    const record = await operators.record(slugOrId);
    const refused = notFound(`There is no ${reason === undefined ? "hidden" : "public"} panorama ${slugOrId}.`);
    if (record === undefined) return err(refused);
    const withheld = reason === undefined ? undefined : { at: clock.now(), reason };
    return (await tasks.withhold(record.task.id, withheld)).map(() => record.task).mapErr(() => refused);
  };
