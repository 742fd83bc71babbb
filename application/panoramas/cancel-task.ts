import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { fail, isCancelable, type SubmittedTask, type Task } from "../../domain/task.js";
import type { TaskId } from "../../domain/task-id.js";
import { type NotFound, notFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { Reporter } from "../ports/reporter.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { StaleTask, TaskStore } from "../ports/task-store.js";

type Ports = {
  readonly tasks: Pick<TaskStore, "find" | "move" | "lease" | "postpone">;
  readonly provider: Pick<GenerationProvider, "cancel">;
  readonly clock: Pick<Clock, "now">;
  readonly signals: Pick<TaskSignals, "announce">;
  readonly reporter: Reporter;
};

/** How the provider is asked. */
export type CancelSettings = {
  /** For how long nobody else polls the generation; longer than the provider takes to answer. */
  readonly leaseMilliseconds: number;
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
  (ports: Ports, settings: CancelSettings) =>
  async (id: TaskId, owner: AccountId): Promise<Result<Task, NotFound>> => {
    const { tasks, clock, signals, reporter } = ports;
    // A task that was started or has ended in the meantime is looked at again.
    for (;;) {
      const task = await tasks.find(id, owner);
      if (task === undefined) return err(notFound(`There is no task ${id} on this account.`));
      if (!isCancelable(task)) return ok(task);
      if (task.state === "submitted") {
        const stopped = await stop(ports, settings, task);
        if (stopped.isErr()) continue;
        if (!stopped.value) return ok((await tasks.find(id, owner)) ?? task);
      }
      const failed = fail(task, "canceled", clock.now());
      // Without the lease: whoever has leased the task since, the provider has stopped it.
      const moved = await tasks.move(task, failed, undefined);
      if (moved.isErr()) continue;
      const detail = task.state === "queued" ? "nothing was sent to the provider" : "the provider has stopped it";
      reporter.report({ kind: "task_failed", taskId: id, reason: "canceled", detail });
      signals.announce(failed);
      return ok(failed);
    }
  };

/**
 * Whether the provider has stopped the generation without a charge. Nobody polls it meanwhile, because a poll would see
 * that it has ended, and not why. If it goes on, its next poll is due now; if this process dies, after the lease.
 */
const stop = async (
  { tasks, provider, clock, reporter }: Ports,
  { leaseMilliseconds }: CancelSettings,
  task: SubmittedTask,
): Promise<Result<boolean, StaleTask>> => {
  const lease = await tasks.lease(task, new Date(clock.now().getTime() + leaseMilliseconds));
  if (lease.isErr()) return err(lease.error);
  const canceled = await provider.cancel?.(task.upstreamTaskId);
  if (canceled?.isErr()) {
    const detail = `not canceled: ${canceled.error.reason}`;
    reporter.report({ kind: "provider_unavailable", taskId: task.id, detail });
  } else if (canceled?.isOk() && canceled.value === "canceled") return ok(true);
  // It may have ended already, or end soon without having confirmed it.
  await tasks.postpone([{ lease: lease.value, dueAt: clock.now() }]);
  return ok(false);
};
