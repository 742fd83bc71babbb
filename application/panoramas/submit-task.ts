import { err, ok, type Result } from "neverthrow";
import { type FailureReason, fail, type ReservedTask, submit, type Task } from "../../domain/task.js";
import type { Clock } from "../ports/clock.js";
import type { GenerationProvider, SubmissionFailure } from "../ports/generation-provider.js";
import type { Reporter } from "../ports/reporter.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { TaskStore } from "../ports/task-store.js";

/** The provider did not take the task; the credits are back. */
export type UpstreamError = { readonly kind: "upstream_error" };

export type SubmissionPorts = {
  readonly tasks: Pick<TaskStore, "find" | "move">;
  readonly provider: Pick<GenerationProvider, "submit" | "search" | "nextPollMilliseconds">;
  readonly clock: Clock;
  readonly signals: Pick<TaskSignals, "announce">;
  readonly reporter: Reporter;
};

/** How long a client waits for the look for a task whose submission had an unclear end. */
const SEARCH_MILLISECONDS = 5_000;

/**
 * Sends a task to the provider and records how that ended. After an unclear end the provider is asked once for a task
 * with our mark, and what it finds counts as its answer; else, as after a refusal, the task is refunded. To be called
 * once, by whoever made the task `reserved`, and with no transaction open: the provider may take seconds, and the process
 * may die meanwhile.
 */
export const submitTask = async (ports: SubmissionPorts, task: ReservedTask): Promise<Result<Task, UpstreamError>> => {
  const { tasks, provider, clock, signals, reporter } = ports;
  const submission = await provider.submit({ taskId: task.id, request: task.request });
  const accepted = submission.isErr() ? await recover(ports, task, submission.error) : submission;
  if (accepted.isErr()) return failAndRefund(ports, task, accepted.error);

  const upstreamTaskId = accepted.value;
  const submittedAt = clock.now();
  const submitted = submit(task, upstreamTaskId, submittedAt);
  const firstPoll = new Date(submittedAt.getTime() + provider.nextPollMilliseconds(upstreamTaskId, 0));
  const recorded = await tasks.move(task, submitted, firstPoll);
  if (recorded.isErr()) return afterTheSweep(ports, task, `accepted as ${upstreamTaskId}`);
  const kind = submission.isOk() ? "task_submitted" : "submission_recovered";
  reporter.report({ kind, taskId: task.id, upstreamTaskId });
  signals.announce(submitted);
  return ok(submitted);
};

/** After an unclear end: what was started nevertheless, if the provider can tell in time. */
const recover = async (
  { provider, clock }: SubmissionPorts,
  task: ReservedTask,
  failure: SubmissionFailure,
): Promise<Result<string, SubmissionFailure>> => {
  if (failure.kind === "refused") return err(failure);
  const ended = new AbortController();
  const found = await Promise.race([provider.search(task.id), clock.sleep(SEARCH_MILLISECONDS, ended.signal)]);
  ended.abort();
  return found?.isOk() && found.value !== undefined ? ok(found.value) : err(failure);
};

const reasonOf: Record<SubmissionFailure["kind"], FailureReason> = {
  refused: "refused",
  unknown: "submission_unknown",
};

const failAndRefund = async (
  ports: SubmissionPorts,
  task: ReservedTask,
  failure: SubmissionFailure,
): Promise<Result<Task, UpstreamError>> => {
  const { tasks, clock, reporter, signals } = ports;
  const reason = reasonOf[failure.kind];
  const failed = fail(task, reason, clock.now());
  const moved = await tasks.move(task, failed, undefined);
  if (moved.isErr()) return afterTheSweep(ports, task, failure.reason);
  reporter.report({ kind: "task_failed", taskId: task.id, reason, detail: failure.reason });
  if (failure.kind === "unknown") {
    reporter.report({ kind: "possible_orphan", taskId: task.id, detail: failure.reason });
  }
  signals.announce(failed);
  return err({ kind: "upstream_error" });
};

/**
 * The end of the call came after the submission deadline. The sweep has found the upstream task itself, and then the
 * customer has a task and pays for it, whatever the call ended with; or it has given up and refunded.
 */
const afterTheSweep = async (
  { tasks, reporter }: SubmissionPorts,
  { id, accountId }: ReservedTask,
  lateEnd: string,
): Promise<Result<Task, UpstreamError>> => {
  const current = await tasks.find(id, accountId);
  if (current !== undefined && current.state !== "failed") return ok(current);
  reporter.report({ kind: "possible_orphan", taskId: id, detail: `ended after the submission deadline: ${lateEnd}` });
  return err({ kind: "upstream_error" });
};
