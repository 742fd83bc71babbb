import { err, ok, type Result } from "neverthrow";
import type { ProviderPlace } from "../../domain/queue.js";
import { type FailureReason, fail, type ReservedTask, submit, type Task } from "../../domain/task.js";
import { CLOCK_TOLERANCE_MILLISECONDS } from "../background/work-on-leases.js";
import type { Clock } from "../ports/clock.js";
import type { GenerationProvider, SubmissionFailure } from "../ports/generation-provider.js";
import type { Reporter } from "../ports/reporter.js";
import type { TaskSignals } from "../ports/task-signals.js";
import type { TaskStore } from "../ports/task-store.js";
import { stopGeneration } from "./stop-generation.js";

/** The provider did not accept the task. Its credits are refunded. */
export type UpstreamError = { readonly kind: "upstream_error" };

/** What a submission needs. */
export type SubmissionPorts = {
  readonly tasks: Pick<TaskStore, "find" | "move" | "requeue" | "changePlace">;
  readonly provider: Pick<GenerationProvider, "submit" | "search" | "cancel" | "nextPollMilliseconds">;
  readonly clock: Clock;
  readonly signals: Pick<TaskSignals, "announce">;
  readonly reporter: Reporter;
};

/** `queueDeadlineMilliseconds`: a task that waits for so long, from its reservation on, fails and is refunded. */
export type SubmissionSettings = { readonly queueDeadlineMilliseconds: number };

/** Timeout of the search for the upstream task after an unclear answer; the client waits for it. */
const SEARCH_TIMEOUT_MILLISECONDS = 5_000;

/**
 * Submits a task to the provider and records the result. After an unclear answer (a timeout, a broken connection) it
 * searches once for an upstream task with our task id and uses the one that it finds. If there is none, and after a
 * refusal, the task fails and is refunded. If the provider has no room now, the task returns to the queue.
 *
 * Must be called once, by the caller that made the task `reserved`, and with no transaction open: the provider may take
 * seconds, and the process may be killed during the call. `submissionDeadline` is when the sweep resolves the task.
 */
export const submitTask = async (
  ports: SubmissionPorts,
  settings: SubmissionSettings,
  task: ReservedTask,
  submissionDeadline: Date,
): Promise<Result<Task, UpstreamError>> => {
  const { tasks, provider, clock, signals, reporter } = ports;
  const { id: taskId, accountId: owner, request, place, traceparent } = task;
  if (task.cancelWish !== undefined) return cancelUnsent(ports, task);
  const changePlace = (other: ProviderPlace) => tasks.changePlace(task, other);
  const submission = await provider.submit(
    { taskId, owner, request, place, changePlace, traceparent },
    submissionDeadline,
  );
  const accepted = submission.isErr() ? await findUpstreamTask(ports, task, submission.error) : submission;
  if (accepted.isErr()) {
    const { kind, reason } = accepted.error;
    return kind === "busy"
      ? returnToQueue(ports, settings, task, reason)
      : failAndRefund(ports, task, { kind, reason });
  }

  const upstreamTaskId = accepted.value;
  const submittedAt = clock.now();
  const submitted = submit(task, upstreamTaskId, submittedAt);
  const firstPoll = new Date(submittedAt.getTime() + provider.nextPollMilliseconds(upstreamTaskId, 0));
  const recorded = await tasks.move(task, submitted, firstPoll);
  if (recorded.isErr()) return readSweptTask(ports, task, `accepted as ${upstreamTaskId}`, upstreamTaskId);
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
  if (failure.kind !== "unknown") return err(failure);
  const ended = new AbortController();
  const found = await Promise.race([
    provider.search(task.id, task.reservedAt),
    clock.sleep(SEARCH_TIMEOUT_MILLISECONDS, ended.signal),
  ]);
  ended.abort();
  return found?.isOk() && found.value !== undefined ? ok(found.value) : err(failure);
};

/**
 * When a task that returns to the queue is given up. It counts from the reservation, so that a task cannot wait for ever.
 * If that lies in the future, the clock was set back, and each return would extend the time again: it is given up now.
 */
export const queueDeadlineOf = (
  { reservedAt }: Pick<Task, "reservedAt">,
  { queueDeadlineMilliseconds }: SubmissionSettings,
  now: Date,
): Date =>
  reservedAt.getTime() > now.getTime() + CLOCK_TOLERANCE_MILLISECONDS
    ? now
    : new Date(reservedAt.getTime() + queueDeadlineMilliseconds);

const returnToQueue = async (
  ports: SubmissionPorts,
  settings: SubmissionSettings,
  task: ReservedTask,
  detail: string,
): Promise<Result<Task, UpstreamError>> => {
  const { tasks, clock, reporter } = ports;
  const now = clock.now();
  const giveUpAt = queueDeadlineOf(task, settings, now);
  if (giveUpAt <= now) {
    const reason = `the provider was busy for too long: ${detail}`;
    // A creation that was never queued is not answered yet.
    return task.turn === undefined
      ? failAndRefund(ports, task, { kind: "refused", reason })
      : failUnstarted(ports, task, "never_started", reason);
  }
  const requeued = await tasks.requeue(task, giveUpAt);
  if (requeued.isErr()) return readSweptTask(ports, task, detail);
  reporter.report({ kind: "task_requeued", taskId: task.id, detail });
  return ok(requeued.value);
};

/** Its owner has canceled it during an earlier submission, which has started nothing. */
const cancelUnsent = (ports: SubmissionPorts, task: ReservedTask): Promise<Result<Task, UpstreamError>> =>
  failUnstarted(ports, task, "canceled", "nothing was sent to the provider");

/** Fails and refunds a task for which nothing was started. */
const failUnstarted = async (
  ports: SubmissionPorts,
  task: ReservedTask,
  reason: FailureReason,
  detail: string,
): Promise<Result<Task, UpstreamError>> => {
  const { tasks, clock, reporter, signals } = ports;
  const failed = fail(task, reason, clock.now());
  const moved = await tasks.move(task, failed, undefined);
  if (moved.isErr()) return readSweptTask(ports, task, detail);
  reporter.report({ kind: "task_failed", taskId: task.id, reason, detail });
  signals.announce(failed);
  return ok(failed);
};

const reasonOf = { refused: "refused", unknown: "submission_unknown" } satisfies Record<string, FailureReason>;

const failAndRefund = async (
  ports: SubmissionPorts,
  task: ReservedTask,
  failure: { readonly kind: keyof typeof reasonOf; readonly reason: string },
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
 * it at the provider, or has returned it to the queue, it is charged and continues: returns it, even if `lateResult` is
 * a failure. Otherwise the sweep has failed and refunded it: returns an error. If it is not found, it has ended, and its
 * owner has deleted it: returns the task, because an error would say that it cost nothing. `upstreamTaskId` is what the
 * provider has accepted; it is an orphan unless the task has it. That of a failed task is stopped: nobody else works on it.
 */
const readSweptTask = async (
  ports: SubmissionPorts,
  task: ReservedTask,
  lateResult: string,
  upstreamTaskId?: string,
): Promise<Result<Task, UpstreamError>> => {
  const { tasks, reporter } = ports;
  const { id, accountId } = task;
  const current = (await tasks.find(id, accountId)) ?? task;
  const continues = current.state !== "failed";
  const known = continues && "upstreamTaskId" in current ? current.upstreamTaskId : undefined;
  if (!continues || (upstreamTaskId !== undefined && upstreamTaskId !== known)) {
    const detail = `ended after the submission deadline: ${lateResult}`;
    reporter.report({ kind: "possible_orphan", taskId: id, detail });
    if (!continues && upstreamTaskId !== undefined) await stopGeneration(ports, { id, upstreamTaskId });
  }
  return continues ? ok(current) : err({ kind: "upstream_error" });
};
