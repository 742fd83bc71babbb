import { err, ok, type Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { isCancelable, isCancelRequested, wasCancelDeclined } from "../../domain/tasks/cancel-request.js";
import type { Task } from "../../domain/tasks/task.js";
import { type NotFound, notFound } from "../errors.js";
import type { TaskSignals } from "../ports/signals.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";
import type { TaskWork } from "../ports/stores/tasks/task-work.js";
import { carryOutCancel, type EndPorts, failTask } from "./end-task.js";

type CancellationPorts = EndPorts & {
  readonly tasks: TaskStore & TaskWork;
  readonly signals: TaskSignals;
};

export type CancelSettings = {
  /** Lease of a cancel; longer than the provider takes to answer. */
  readonly leaseMilliseconds: number;
  /** After this time only the poll may lease the task, so that a cancel cannot delay its end. */
  readonly generationDeadlineMilliseconds: number;
};

/** Maximum wait for a running submission or poll. */
const WAIT_MILLISECONDS_MAX = 5_000;
/** Poll interval for changes by other processes, which send no signals. */
const LOOK_AGAIN_MILLISECONDS = 500;

/** Cancellations by owners. */
export function cancellations(ports: CancellationPorts, settings: CancelSettings) {
  const { tasks, clock, signals } = ports;
  return {
    /**
     * `POST /panoramas/{id}/cancel`: ends a task without an image and refunds it, if that no longer costs anything.
     * Returns the task afterwards: `failed` if it was canceled, otherwise in its current state.
     *
     * - `queued`: ends at once.
     * - `submitting`, `submitted`: records the request. This call carries it out if the task has no lease; otherwise
     *   the next lease holder does, and this call waits a few seconds for it. A `submitted` task ends if the provider
     *   stops it without a charge. If it refuses, it is asked again after a minute at the earliest.
     * - `generated`: too late, there is a result.
     */
    async cancel(id: TaskId, owner: AccountId): Promise<Result<Task, NotFound>> {
      const startedAt = clock.now().getTime();
      let last: Task | undefined;
      for (;;) {
        const woken = new AbortController();
        try {
          // Listens before it reads, so that it does not miss a move between the two.
          const moved = signals.next(id, woken.signal);
          const task: Task | undefined = await tasks.find(id, owner);
          if (task === undefined) {
            return last === undefined ? err(notFound(`There is no task ${id} on this account.`)) : ok(last);
          }
          last = task;
          const ended = await attempt(ports, settings, task);
          if (ended === "changed") continue;
          // A change of the system clock, also backwards, shortens the wait and never extends it.
          const left = WAIT_MILLISECONDS_MAX - Math.abs(clock.now().getTime() - startedAt);
          if (ended !== "leased" || left <= 0) return ok(ended === "leased" ? task : ended);
          await Promise.race([moved, clock.sleep(Math.min(left, LOOK_AGAIN_MILLISECONDS), woken.signal)]);
        } finally {
          woken.abort(); // ends the listener and the timer, also if the store throws
        }
      }
    },
  };
}

/** The task afterwards. `changed`: read it again. `leased`: somebody else has the task; the request is recorded. */
async function attempt(
  ports: CancellationPorts,
  { leaseMilliseconds, generationDeadlineMilliseconds }: CancelSettings,
  task: Task,
): Promise<Task | "changed" | "leased"> {
  const { tasks, clock } = ports;
  const now = clock.now();
  if (!isCancelable(task)) return task;
  if (task.state === "queued") {
    const canceled = await failTask(ports, task, { reason: "canceled", detail: "nothing was sent to the provider" });
    return canceled.unwrapOr("changed"); // it was started meanwhile
  }
  if (wasCancelDeclined(task, now)) return task;
  if (!isCancelRequested(task) && (await tasks.recordCancelRequest(task, now)).isErr()) return "changed";
  if (task.state === "submitting") return "leased"; // its submission is under way
  if (now.getTime() - task.submittedAt.getTime() >= generationDeadlineMilliseconds) return "leased";
  const lease = await tasks.lease(task, now, new Date(now.getTime() + leaseMilliseconds));
  if (lease === undefined) return "leased";
  // Not canceled: poll now, because the generation may have ended without confirming it.
  const carriedOut = await carryOutCancel(ports, lease, (refused) => tasks.move(lease, refused, clock.now()));
  return carriedOut.unwrapOr("changed");
}
