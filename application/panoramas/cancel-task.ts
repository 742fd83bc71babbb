import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { fail, isCancelable, type SubmittedTask, type Task } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { Reporter } from "../ports/reporter.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { TaskStore } from "../ports/task-store.js";

type Ports = {
  readonly tasks: Pick<TaskStore, "find" | "move" | "makeDueNow">;
  readonly provider: Pick<GenerationProvider, "cancel">;
  readonly clock: Pick<Clock, "now">;
  readonly signals: Pick<TaskSignals, "announce">;
  readonly reporter: Reporter;
};

/** What `cancelTask` returns. */
export type CancelTask = ReturnType<typeof cancelTask>;

/**
 * `POST /panoramas/{id}/cancel`: ends a task without an image and refunds it, if that costs nothing any more. Returns
 * the task as it is afterwards: `failed` if it was canceled, otherwise in the state in which it goes on or has ended.
 *
 * A `queued` task ends at once. A `submitted` one ends if the provider stops it without a charge. A `reserved` one goes
 * on, because its submission is not answered yet; the call can be repeated then. A `generated` one has its result.
 */
export const cancelTask =
  (ports: Ports) =>
  async (id: TaskId, owner: AccountId): Promise<Result<Task, NotFound>> => {
    const { tasks, clock, signals, reporter } = ports;
    // A task that was started or has ended in the meantime is looked at again.
    for (;;) {
      const task = await tasks.find(id, owner);
      if (task === undefined) return err(notFound(`There is no task ${id} on this account.`));
      if (!isCancelable(task)) return ok(task);
      if (task.state === "submitted" && !(await isStopped(ports, task)))
        return ok((await tasks.find(id, owner)) ?? task);
      const failed = fail(task, "canceled", clock.now());
      const moved = await tasks.move(task, failed, undefined);
      if (moved.isErr()) continue;
      const detail = task.state === "queued" ? "nothing was sent to the provider" : "the provider has stopped it";
      reporter.report({ kind: "task_failed", taskId: id, reason: "canceled", detail });
      signals.announce(failed);
      return ok(failed);
    }
  };

/** Whether the provider has stopped the generation without a charge. If it goes on, its next poll is due now. */
const isStopped = async ({ tasks, provider, clock, reporter }: Ports, task: SubmittedTask): Promise<boolean> => {
  const canceled = await provider.cancel?.(task.upstreamTaskId);
  if (canceled?.isErr()) {
    const detail = `not canceled: ${canceled.error.reason}`;
    reporter.report({ kind: "provider_unavailable", taskId: task.id, detail });
  } else if (canceled?.isOk() && canceled.value === "canceled") return true;
  // It may have ended already, or end soon without having confirmed it.
  await tasks.makeDueNow(task.id, clock.now());
  return false;
};
