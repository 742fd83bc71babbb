import { err, ok, type Result } from "neverthrow";
import { type ProviderPlace, START_PAUSE_MILLISECONDS_MAX } from "../../domain/tasks/queue.js";
import {
  type FailedTask,
  type FailureReason,
  type SubmittingTask,
  submit,
  type Task,
} from "../../domain/tasks/task.js";
import { CLOCK_TOLERANCE_MILLISECONDS } from "../ports/clock.js";
import type { GenerationProvider, SubmissionFailure } from "../ports/generation-provider.js";
import type { TaskQueue } from "../ports/stores/tasks/task-queue.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";
import { type FailPorts, type Failure, failTask, moveTask, type StopPorts, stopGeneration } from "./end-task.js";

/**
 * The provider did not accept the task. Its credits are refunded. `failed`: the task, which says why; absent if none
 * was opened.
 */
export type UpstreamError = { readonly kind: "upstream_error"; readonly failed?: FailedTask };

/** What a submission needs. */
export type SubmissionPorts = FailPorts &
  StopPorts & {
    readonly tasks: Pick<TaskStore, "find"> & Pick<TaskQueue, "requeue" | "changePlace">;
    readonly provider: Pick<GenerationProvider, "submit" | "search" | "nextPollMilliseconds">;
  };

/** `queueDeadlineMilliseconds`: a task that waits for so long, from its reservation on, fails and is refunded. */
export type SubmissionSettings = { readonly queueDeadlineMilliseconds: number };

/** Timeout of the search for the upstream task after an unclear answer; the client waits for it. */
const SEARCH_TIMEOUT_MILLISECONDS = 5_000;

/**
 * Submits a task to the provider and records the result. After an unclear answer (a timeout, a broken connection) it
 * searches once for an upstream task with our task id and uses the one that it finds. If there is none, and after a
 * refusal, the task fails and is refunded. If the provider has no room now, the task returns to the queue, for
 * as long as the provider asks.
 *
 * Must be called once, by the caller that made the task `submitting`, and with no transaction open: the provider may
 * take seconds, and the process may be killed during the call. `submissionDeadline` is when the sweep resolves the
 * task.
 */
export const submitTask = async (
  ports: SubmissionPorts,
  settings: SubmissionSettings,
  task: SubmittingTask,
  submissionDeadline: Date,
): Promise<Result<Task, UpstreamError>> => {
  if (task.cancelWish !== undefined) {
    // During an earlier submission, which has started nothing.
    return failUnstarted(ports, task, { reason: "canceled", detail: "nothing was sent to the provider" });
  }
  const { answer, place } = await send(ports, task, submissionDeadline);
  const sent = { ...task, place };
  if (answer.isOk()) return recordSubmission(ports, sent, answer.value);
  const { kind, reason, cause, imageIndex, imageProblem } = answer.error;
  return kind === "busy"
    ? returnToQueue(ports, settings, sent, answer.error)
    : failRefused(ports, sent, {
        reason: cause ?? reasonOf[kind],
        imageIndex,
        imageProblem,
        detail: reason,
        mayBeRunning: kind === "unknown",
      });
};

/** The answer, and the place of the provider that was asked last. */
type Answered = { readonly answer: Result<Accepted, SubmissionFailure>; readonly place: string | undefined };

/** What the provider has accepted. `isRecovered`: its answer was unclear, and the search has found it. */
type Accepted = { readonly upstreamTaskId: string; readonly isRecovered: boolean };

const reasonOf = { refused: "refused", unknown: "submission_unknown" } satisfies Record<string, FailureReason>;

const send = async (ports: SubmissionPorts, task: SubmittingTask, submissionDeadline: Date): Promise<Answered> => {
  const { tasks, provider } = ports;
  const { id: taskId, accountId: owner, request, place, traceparent, submissions } = task;
  let asked = place;
  const changePlace = async (other: ProviderPlace) => {
    const isChanged = await tasks.changePlace(task, other);
    if (isChanged) asked = other.name;
    return isChanged;
  };
  const order = { taskId, submission: submissions, owner, request, place, changePlace, traceparent };
  const answer = await provider.submit(order, submissionDeadline);
  const accepted = answer.isOk()
    ? ok({ upstreamTaskId: answer.value, isRecovered: false })
    : await findUpstreamTask(ports, task, answer.error);
  return { answer: accepted, place: asked };
};

/** Searches for the upstream task after an unclear answer. Returns `failure` if none is found before the timeout. */
const findUpstreamTask = async (
  { provider, clock }: SubmissionPorts,
  task: SubmittingTask,
  failure: SubmissionFailure,
): Promise<Result<Accepted, SubmissionFailure>> => {
  if (failure.kind !== "unknown") return err(failure);
  const ended = new AbortController();
  const found = await Promise.race([
    provider.search(task.id, task.reservedAt),
    clock.sleep(SEARCH_TIMEOUT_MILLISECONDS, ended.signal),
  ]);
  ended.abort();
  const upstreamTaskId = found?.unwrapOr(undefined);
  return upstreamTaskId === undefined ? err(failure) : ok({ upstreamTaskId, isRecovered: true });
};

const recordSubmission = async (
  ports: SubmissionPorts,
  task: SubmittingTask,
  { upstreamTaskId, isRecovered }: Accepted,
): Promise<Result<Task, UpstreamError>> => {
  const { provider, clock, reporter } = ports;
  const submittedAt = clock.now();
  const firstPoll = new Date(submittedAt.getTime() + provider.nextPollMilliseconds(upstreamTaskId, 0));
  const submitted = await moveTask(ports, task, submit(task, upstreamTaskId, submittedAt), firstPoll);
  if (submitted.isErr()) return readSweptTask(ports, task, `accepted as ${upstreamTaskId}`, upstreamTaskId);
  const kind = isRecovered ? "submission_recovered" : "task_submitted";
  reporter.report({ kind, taskId: task.id, provider: task.place, upstreamTaskId });
  return ok(submitted.value);
};

/**
 * When a task that returns to the queue is given up. It counts from the reservation, so that a task cannot wait for
 * ever. If that lies in the future, the clock was set back, and each return would extend the time again: it is given up
 * now.
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
  task: SubmittingTask,
  { reason: detail, retryAfterMilliseconds }: SubmissionFailure,
): Promise<Result<Task, UpstreamError>> => {
  const { tasks, clock, reporter } = ports;
  const now = clock.now();
  const giveUpAt = queueDeadlineOf(task, settings, now);
  if (giveUpAt <= now) {
    const reason = `the provider was busy for too long: ${detail}`;
    // A creation that was never queued is not answered yet.
    return task.turn === undefined
      ? failRefused(ports, task, { reason: "refused", detail: reason })
      : failUnstarted(ports, task, { reason: "never_started", detail: reason });
  }
  const pause = retryAfterMilliseconds && Math.min(retryAfterMilliseconds, START_PAUSE_MILLISECONDS_MAX);
  const requeued = await tasks.requeue(task, giveUpAt, pause === undefined ? pause : new Date(now.getTime() + pause));
  if (requeued.isErr()) return readSweptTask(ports, task, detail);
  reporter.report({ kind: "task_requeued", taskId: task.id, detail });
  return ok(requeued.value);
};

/** Nothing was started for the task, which is answered as `failed`. */
const failUnstarted = async (
  ports: SubmissionPorts,
  task: SubmittingTask,
  failure: Failure,
): Promise<Result<Task, UpstreamError>> => {
  const failed = await failTask(ports, task, failure);
  return failed.isOk() ? ok(failed.value) : readSweptTask(ports, task, failure.detail);
};

/** The provider has not accepted the task, so its creation is answered with an error. */
const failRefused = async (
  ports: SubmissionPorts,
  task: SubmittingTask,
  failure: Failure,
): Promise<Result<Task, UpstreamError>> => {
  const failed = await failTask(ports, task, failure);
  return failed.isOk()
    ? err({ kind: "upstream_error", failed: failed.value })
    : readSweptTask(ports, task, failure.detail);
};

/**
 * The provider answered after the submission deadline, and the sweep has already resolved the task. If the sweep found
 * it at the provider, or has returned it to the queue, it is charged and continues: returns it, even if `lateResult` is
 * a failure. Otherwise the sweep has failed and refunded it: returns an error. If it is not found, it has ended, and
 * its owner has deleted it: returns the task, because an error would say that it cost nothing. `upstreamTaskId` is what
 * the provider has accepted; it is an orphan unless the task has it. That of a failed task is stopped: nobody else
 * works on it.
 */
const readSweptTask = async (
  ports: SubmissionPorts,
  task: SubmittingTask,
  lateResult: string,
  upstreamTaskId?: string,
): Promise<Result<Task, UpstreamError>> => {
  const { tasks, reporter } = ports;
  const { id, accountId } = task;
  const current = (await tasks.find(id, accountId)) ?? task;
  const failed = current.state === "failed" ? current : undefined;
  const continues = failed === undefined;
  const known = continues && "upstreamTaskId" in current ? current.upstreamTaskId : undefined;
  if (!continues || (upstreamTaskId !== undefined && upstreamTaskId !== known)) {
    const detail = `ended after the submission deadline: ${lateResult}`;
    reporter.report({ kind: "possible_orphan", taskId: id, detail });
    if (!continues && upstreamTaskId !== undefined) await stopGeneration(ports, { id, upstreamTaskId });
  }
  return failed === undefined ? ok(current) : err({ kind: "upstream_error", failed });
};
