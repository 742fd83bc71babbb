import { err, ok, type Result } from "neverthrow";
import { type FailureReason, fail, type ReservedTask, submit, type Task } from "../../domain/task.js";
import type { Clock } from "../ports/clock.js";
import type { GenerationProvider, SubmissionFailure } from "../ports/generation-provider.js";
import type { Reporter } from "../ports/reporter.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { TaskStore } from "../ports/task-store.js";

/** The provider did not accept the task. Its credits are refunded. */
export type UpstreamError = { readonly kind: "upstream_error" };

export type SubmissionPorts = {
  readonly tasks: Pick<TaskStore, "find" | "move">;
  readonly provider: Pick<GenerationProvider, "submit" | "search" | "nextPollMilliseconds">;
  readonly clock: Clock;
  readonly signals: Pick<TaskSignals, "announce">;
  readonly reporter: Reporter;
};

/** Timeout of the search for the upstream task after an unclear answer; the client waits for it. */
const SEARCH_TIMEOUT_MILLISECONDS = 5_000;

/**
 * Submits a task to the provider and records the result. After an unclear answer (a timeout, a broken connection) it
 * searches once for an upstream task with our task id and uses the one that it finds. If there is none, and after a
 * refusal, the task fails and is refunded.
 *
 * Must be called once, by the caller that made the task `reserved`, and with no transaction open: the provider may take
 * seconds, and the process may be killed during the call.
 */
export const submitTask = async (ports: SubmissionPorts, task: ReservedTask): Promise<Result<Task, UpstreamError>> => {
  const { tasks, provider, clock, signals, reporter } = ports;
  const submission = await provider.submit({ taskId: task.id, request: task.request });
  const accepted = submission.isErr() ? await findUpstreamTask(ports, task, submission.error) : submission;
  if (accepted.isErr()) return failAndRefund(ports, task, accepted.error);

  const upstreamTaskId = accepted.value;
  const submittedAt = clock.now();
  const submitted = submit(task, upstreamTaskId, submittedAt);
  const firstPoll = new Date(submittedAt.getTime() + provider.nextPollMilliseconds(upstreamTaskId, 0));
  const recorded = await tasks.move(task, submitted, firstPoll);
  if (recorded.isErr()) return readSweptTask(ports, task, `accepted as ${upstreamTaskId}`);
  const kind = submission.isOk() ? "task_submitted" : "submission_recovered";
  reporter.report({ kind, taskId: task.id, upstreamTaskId });
  signals.announce(submitted);
  return ok(submitted);
};

/** Searches for the upstream task after an unclear answer. Returns `failure` if none is found before the timeout. */
const findUpstreamTask = async (
  { provider, clock }: SubmissionPorts,
  task: ReservedTask,
  failure: SubmissionFailure,
): Promise<Result<string, SubmissionFailure>> => {
  if (failure.kind === "refused") return err(failure);
  const ended = new AbortController();
  const found = await Promise.race([
    provider.search(task.id, task.reservedAt),
    clock.sleep(SEARCH_TIMEOUT_MILLISECONDS, ended.signal),
  ]);
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
  if (moved.isErr()) return readSweptTask(ports, task, failure.reason);
  reporter.report({ kind: "task_failed", taskId: task.id, reason, detail: failure.reason });
  if (failure.kind === "unknown") {
    reporter.report({ kind: "possible_orphan", taskId: task.id, detail: failure.reason });
  }
  signals.announce(failed);
  return err({ kind: "upstream_error" });
};

/**
 * The provider answered after the submission deadline, and the sweep has already resolved the task. If the sweep found
 * it at the provider, it runs and is charged: returns it, even if `lateResult` is a failure. Otherwise the sweep has
 * failed and refunded it: returns an error.
 */
const readSweptTask = async (
  { tasks, reporter }: SubmissionPorts,
  { id, accountId }: ReservedTask,
  lateResult: string,
): Promise<Result<Task, UpstreamError>> => {
  const current = await tasks.find(id, accountId);
  if (current !== undefined && current.state !== "failed") return ok(current);
  reporter.report({
    kind: "possible_orphan",
    taskId: id,
    detail: `ended after the submission deadline: ${lateResult}`,
  });
  return err({ kind: "upstream_error" });
};
