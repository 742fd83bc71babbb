import { err, ok, type Result } from "neverthrow";
import { type FailedTask, fail, refuseCancel, type SubmittedTask } from "../../domain/task.js";
import type { Clock } from "../ports/clock.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { Reporter } from "../ports/reporter.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { Lease, StaleTask, TaskStore } from "../ports/task-store.js";

/** What asking a provider to stop a generation needs. */
export type StopPorts = {
  readonly provider: Pick<GenerationProvider, "cancel">;
  readonly clock: Clock;
  readonly reporter: Reporter;
};

/** For how long an answer is waited for. With a poll it must fit into a lease. */
const STOP_MILLISECONDS_MAX = 10_000;

/** Whether the provider has stopped the generation. Without an answer in time it may still stop. Never throws. */
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

type CancelPorts = StopPorts & {
  readonly tasks: Pick<TaskStore, "move">;
  readonly signals: Pick<TaskSignals, "announce">;
};

/**
 * Carries out the owner's wish: ends the task with its refund if the provider has stopped the generation. Otherwise `goOn`
 * stores that it was refused, so that it is not asked for again at once. Returns the task that was stored.
 */
export const carryOutCancel = async (
  ports: CancelPorts,
  lease: Lease<SubmittedTask>,
  goOn: (refused: SubmittedTask) => Promise<Result<void, StaleTask>>,
): Promise<Result<FailedTask | SubmittedTask, StaleTask>> => {
  const { tasks, clock, signals, reporter } = ports;
  if (!(await stopGeneration(ports, lease.task))) {
    const refused = refuseCancel(lease.task, clock.now());
    const stored = await goOn(refused);
    if (stored.isErr()) return err(stored.error);
    signals.announce(refused);
    return ok(refused);
  }
  const failed = fail(lease.task, "canceled", clock.now());
  const moved = await tasks.move(lease, failed, undefined);
  if (moved.isErr()) return err(moved.error);
  reporter.report({
    kind: "task_failed",
    taskId: failed.id,
    reason: "canceled",
    detail: "the provider has stopped it",
  });
  signals.announce(failed);
  return ok(failed);
};
