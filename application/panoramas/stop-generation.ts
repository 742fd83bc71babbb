import type { Result } from "neverthrow";
import { type FailedTask, refuseCancel, type SubmittedTask } from "../../domain/tasks/task.js";
import type { Clock } from "../ports/clock.js";
import type { GenerationProvider } from "../ports/generation-provider.js";
import type { Reporter } from "../ports/reporter.js";
import type { Lease, StaleTask } from "../ports/stores/tasks/task-store.js";
import { announceStored, type FailPorts, failTask } from "./end-task.js";

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

/**
 * Carries out the owner's wish: ends the task with its refund if the provider has stopped the generation. Otherwise
 * `goOn` stores that it was refused, so that it is not asked for again at once. Returns the task that was stored.
 */
export const carryOutCancel = async (
  ports: StopPorts & FailPorts,
  lease: Lease<SubmittedTask>,
  goOn: (refused: SubmittedTask) => Promise<Result<void, StaleTask>>,
): Promise<Result<FailedTask | SubmittedTask, StaleTask>> => {
  if (await stopGeneration(ports, lease.task)) {
    return failTask(ports, lease, { reason: "canceled", detail: "the provider has stopped it" });
  }
  const refused = refuseCancel(lease.task, ports.clock.now());
  return announceStored(ports.signals, refused, goOn(refused));
};
