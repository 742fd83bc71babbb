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
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { Reporter } from "../ports/reporter.js";
import type { TaskSignals } from "../ports/signals.js";
import type { Lease, StaleTask, TaskStore } from "../ports/stores/tasks/task-store.js";

/** Ports to store and announce a transition. */
export type MovePorts = {
  readonly tasks: Pick<TaskStore, "move">;
  readonly signals: Pick<TaskSignals, "announce">;
};

/** Ports to fail a task. */
export type FailPorts = MovePorts & {
  readonly clock: Pick<Clock, "now">;
  readonly reporter: Pick<Reporter, "report">;
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
export const failTask = async (
  ports: FailPorts,
  current: ActiveTask | Lease<ActiveTask>,
  { reason, detail, mayBeRunning = false, ...fault }: Failure,
): Promise<Result<FailedTask, StaleTask>> => {
  const { clock, reporter } = ports;
  const task = "fence" in current ? current.task : current;
  const next = { ...fail(task, reason, clock.now(), fault), detail };
  const failed = await moveTask(ports, current, next, undefined);
  if (failed.isErr()) return failed;
  reporter.report({ kind: "task_failed", taskId: task.id, provider: placeOf(task), reason, detail });
  if (mayBeRunning) reporter.report({ kind: "possible_orphan", taskId: task.id, detail });
  return failed;
};

/** Stores the next state of a task, due at `dueAt`, and announces it. */
export const moveTask = <T extends Task>(
  { tasks, signals }: MovePorts,
  current: Task | Lease<Task>,
  next: T,
  dueAt: Date | undefined,
): Promise<Result<T, StaleTask>> => announceStored(signals, next, tasks.move(current, next, dueAt));

/** Announces a task if it was stored. A stale one is announced by the worker that moved it. */
export const announceStored = async <T extends Task>(
  signals: Pick<TaskSignals, "announce">,
  next: T,
  stored: Promise<Result<void, StaleTask>>,
): Promise<Result<T, StaleTask>> =>
  (await stored).map(() => {
    signals.announce(next);
    return next;
  });

/** Ports to stop a generation. */
export type StopPorts = {
  readonly provider: Pick<GenerationProvider, "cancel">;
  readonly clock: Clock;
  readonly reporter: Reporter;
};

/** Timeout of a call to stop a generation. Together with a poll it must fit into a lease. */
const STOP_MILLISECONDS_MAX = 10_000;

/** Asks the provider to stop a generation. True if it confirmed in time; otherwise it may still stop. Never throws. */
export const stopGeneration = async (
  { provider, clock, reporter }: StopPorts,
  { id, upstreamTaskId }: Pick<SubmittedTask, "id" | "upstreamTaskId">,
): Promise<boolean> => {
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
};

/**
 * Carries out the owner's cancel request: if the provider has stopped the generation, fails and refunds the task.
 * Otherwise `recordRefusal` stores the provider's refusal, so that it is not asked again at once. Returns the stored
 * task.
 */
export const carryOutCancel = async (
  ports: StopPorts & FailPorts,
  lease: Lease<SubmittedTask>,
  recordRefusal: (refused: SubmittedTask) => Promise<Result<void, StaleTask>>,
): Promise<Result<FailedTask | SubmittedTask, StaleTask>> => {
  if (await stopGeneration(ports, lease.task)) {
    return failTask(ports, lease, { reason: "canceled", detail: "the provider has stopped it" });
  }
  const refused = declineCancel(lease.task, ports.clock.now());
  return announceStored(ports.signals, refused, recordRefusal(refused));
};
