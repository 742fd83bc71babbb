import type { Result } from "neverthrow";
import { declineCancel } from "../../domain/tasks/cancel-request.js";
import {
  type ActiveTask,
  type FailedTask,
  type FailureReason,
  fail,
  type ImageFault,
  placeOf,
  type SubmittedTask,
  type Task,
} from "../../domain/tasks/task.js";
import type { Clock } from "../ports/clock.js";
import type { SubmissionProvider } from "../ports/generation-provider.js";
import type { Reporter } from "../ports/reporter.js";
import type { TaskSignals } from "../ports/signals.js";
import type { Lease, StaleTask, TaskTransitions } from "../ports/stores/tasks/task-store.js";

/** Ports to move a task on, to end it and to stop its generation. */
export type EndPorts = {
  readonly tasks: TaskTransitions;
  readonly provider: SubmissionProvider;
  readonly signals: Pick<TaskSignals, "announce">;
  readonly clock: Clock;
  readonly reporter: Reporter;
};

/**
 * Reason for a failed task. `detail`: for operators. `mayBeRunning`: the provider may run a generation without a task.
 */
export type Failure = ImageFault & {
  readonly reason: FailureReason;
  readonly detail: string;
  readonly mayBeRunning?: boolean | undefined;
};

/**
 * Fails and refunds a task, logs it, and wakes the clients that wait for it. All failures go through here. A stale task
 * was moved by another worker, which announced it.
 */
export async function failTask(
  ports: EndPorts,
  current: ActiveTask | Lease<ActiveTask>,
  { reason, detail, mayBeRunning = false, ...fault }: Failure,
): Promise<Result<FailedTask, StaleTask>> {
  const { clock, reporter } = ports;
  const task = "fence" in current ? current.task : current;
  const next = { ...fail(task, reason, clock.now(), fault), detail };
  const failed = await moveTask(ports, current, next, undefined);
  if (failed.isErr()) return failed;
  reporter.report({ kind: "task_failed", taskId: task.id, provider: placeOf(task), reason, detail });
  if (mayBeRunning) reporter.report({ kind: "possible_orphan", taskId: task.id, detail });
  return failed;
}

/** Stores the next state of a task, due at `dueAt`, and announces it. */
export function moveTask<T extends Task>(
  { tasks, signals }: EndPorts,
  current: Task | Lease<Task>,
  next: T,
  dueAt: Date | undefined,
): Promise<Result<T, StaleTask>> {
  return announceStored(signals, next, tasks.move(current, next, dueAt));
}

/** Announces a task if it was stored. A stale one is announced by the worker that moved it. */
export async function announceStored<T extends Task>(
  signals: EndPorts["signals"],
  next: T,
  stored: Promise<Result<void, StaleTask>>,
): Promise<Result<T, StaleTask>> {
  return (await stored).map(() => {
    signals.announce(next);
    return next;
  });
}

/** Timeout of a call to stop a generation. Together with a poll it must fit into a lease. */
const STOP_MILLISECONDS_MAX = 10_000;

/** Asks the provider to stop a generation. True if it confirmed in time; otherwise it may still stop. Never throws. */
export async function stopGeneration(
  { provider, clock, reporter }: EndPorts,
  { id, upstreamTaskId }: Pick<SubmittedTask, "id" | "upstreamTaskId">,
): Promise<boolean> {
  const ended = new AbortController();
  const asked = (async () => provider.cancel?.(upstreamTaskId))().catch((error: unknown) => {
    reporter.report({ kind: "work_failed", work: "cancel", taskId: id, error });
    return undefined;
  });
  const answer = await Promise.race([asked, clock.sleep(STOP_MILLISECONDS_MAX, ended.signal)]);
  ended.abort();
  if (answer?.isErr()) {
    const detail = `not canceled: ${answer.error.reason}`;
    reporter.report({ kind: "provider_unavailable", taskId: id, detail });
  }
  return answer?.isOk() === true && answer.value === "canceled";
}

/**
 * Carries out the owner's cancel request: if the provider has stopped the generation, fails and refunds the task.
 * Otherwise `recordRefusal` stores the provider's refusal, so that it is not asked again at once. Returns the stored
 * task.
 */
export async function carryOutCancel(
  ports: EndPorts,
  lease: Lease<SubmittedTask>,
  recordRefusal: (refused: SubmittedTask) => Promise<Result<void, StaleTask>>,
): Promise<Result<FailedTask | SubmittedTask, StaleTask>> {
  if (await stopGeneration(ports, lease.task)) {
    return failTask(ports, lease, { reason: "canceled", detail: "the provider has stopped it" });
  }
  const refused = declineCancel(lease.task, ports.clock.now());
  return announceStored(ports.signals, refused, recordRefusal(refused));
}
