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
import type { SubmissionFailure } from "../ports/generation-provider.js";
import type { SubmissionPlaces } from "../ports/stores/tasks/task-queue.js";
import { type EndPorts, type Failure, failTask, moveTask, stopGeneration } from "./end-task.js";

/**
 * The provider did not accept the task. Its credits are refunded. `failed`: the failed task; absent if none was opened.
 */
export type UpstreamError = { readonly kind: "upstream_error"; readonly failed?: FailedTask };

export type SubmissionPorts = EndPorts & { readonly tasks: SubmissionPlaces };

/**
 * `queueDeadlineMilliseconds`: maximum time in the queue, counted from the reservation; then the task fails and is
 * refunded.
 */
export type SubmissionSettings = { readonly queueDeadlineMilliseconds: number };

/** Timeout of the search for the upstream task after an unclear answer; the client waits for it. */
const SEARCH_TIMEOUT_MILLISECONDS = 5_000;

/**
 * Submits a task to the provider and records the result. After an unclear answer (a timeout, a broken connection) it
 * searches once for an upstream task with our task id, and uses it. If there is none, and after a refusal, the task
 * fails and is refunded. If the provider is busy, the task returns to the queue, for as long as the provider asks.
 *
 * Call it once, from the caller that made the task `submitting`, and without an open transaction: the provider may take
 * seconds, and the process may be killed during the call. `submissionDeadline`: time at which the recovery resolves the
 * task.
 */
export async function submitTask(
  ports: SubmissionPorts,
  settings: SubmissionSettings,
  task: SubmittingTask,
  submissionDeadline: Date,
): Promise<Result<Task, UpstreamError>> {
  if (task.cancelRequest !== undefined) {
    // Canceled during an earlier submission, which started nothing.
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
}

/** The answer, and the place of the provider that was asked last. */
type Answered = { readonly answer: Result<Accepted, SubmissionFailure>; readonly place: string | undefined };

/** The accepted upstream task. `isRecovered`: found by the search after an unclear answer. */
type Accepted = { readonly upstreamTaskId: string; readonly isRecovered: boolean };

const reasonOf = { refused: "refused", unknown: "submission_unknown" } satisfies Record<string, FailureReason>;

async function send(ports: SubmissionPorts, task: SubmittingTask, submissionDeadline: Date): Promise<Answered> {
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
}

/** Searches for the upstream task after an unclear answer. Returns `failure` if none is found before the timeout. */
async function findUpstreamTask(
  { provider, clock }: SubmissionPorts,
  task: SubmittingTask,
  failure: SubmissionFailure,
): Promise<Result<Accepted, SubmissionFailure>> {
  if (failure.kind !== "unknown") return err(failure);
  const ended = new AbortController();
  const found = await Promise.race([
    provider.search(task.id, task.reservedAt),
    clock.sleep(SEARCH_TIMEOUT_MILLISECONDS, ended.signal),
  ]);
  ended.abort();
  const upstreamTaskId = found?.unwrapOr(undefined);
  return upstreamTaskId === undefined ? err(failure) : ok({ upstreamTaskId, isRecovered: true });
}

async function recordSubmission(
  ports: SubmissionPorts,
  task: SubmittingTask,
  { upstreamTaskId, isRecovered }: Accepted,
): Promise<Result<Task, UpstreamError>> {
  const { provider, clock, reporter } = ports;
  const submittedAt = clock.now();
  const firstPoll = new Date(submittedAt.getTime() + provider.nextPollMilliseconds(upstreamTaskId, 0));
  const submitted = await moveTask(ports, task, submit(task, upstreamTaskId, submittedAt), firstPoll);
  if (submitted.isErr()) return readSweptTask(ports, task, `accepted as ${upstreamTaskId}`, upstreamTaskId);
  const kind = isRecovered ? "submission_recovered" : "task_submitted";
  reporter.report({ kind, taskId: task.id, provider: task.place, upstreamTaskId });
  return ok(submitted.value);
}

/**
 * Queue deadline of a task that returns to the queue, counted from its reservation, so that it cannot wait for ever. A
 * reservation in the future gives now: the clock was set back, and each return would extend the time again.
 */
export function queueDeadlineOf(
  { reservedAt }: Pick<Task, "reservedAt">,
  { queueDeadlineMilliseconds }: SubmissionSettings,
  now: Date,
): Date {
  return reservedAt.getTime() > now.getTime() + CLOCK_TOLERANCE_MILLISECONDS
    ? now
    : new Date(reservedAt.getTime() + queueDeadlineMilliseconds);
}

async function returnToQueue(
  ports: SubmissionPorts,
  settings: SubmissionSettings,
  task: SubmittingTask,
  { reason: detail, retryAfterMilliseconds }: SubmissionFailure,
): Promise<Result<Task, UpstreamError>> {
  const { tasks, clock, reporter } = ports;
  const now = clock.now();
  const giveUpAt = queueDeadlineOf(task, settings, now);
  if (giveUpAt <= now) {
    const reason = `the provider was busy for too long: ${detail}`;
    // A creation that was never queued is still waiting for its answer.
    return task.turn === undefined
      ? failRefused(ports, task, { reason: "refused", detail: reason })
      : failUnstarted(ports, task, { reason: "never_started", detail: reason });
  }
  const pause = retryAfterMilliseconds && Math.min(retryAfterMilliseconds, START_PAUSE_MILLISECONDS_MAX);
  const requeued = await tasks.requeue(task, giveUpAt, pause === undefined ? pause : new Date(now.getTime() + pause));
  if (requeued.isErr()) return readSweptTask(ports, task, detail);
  reporter.report({ kind: "task_requeued", taskId: task.id, detail });
  return ok(requeued.value);
}

/** Fails a task for which nothing was started, and returns it. */
async function failUnstarted(
  ports: SubmissionPorts,
  task: SubmittingTask,
  failure: Failure,
): Promise<Result<Task, UpstreamError>> {
  const failed = await failTask(ports, task, failure);
  return failed.isOk() ? ok(failed.value) : readSweptTask(ports, task, failure.detail);
}

/** Fails a task that the provider refused, and returns the error of its creation. */
async function failRefused(
  ports: SubmissionPorts,
  task: SubmittingTask,
  failure: Failure,
): Promise<Result<Task, UpstreamError>> {
  const failed = await failTask(ports, task, failure);
  return failed.isOk()
    ? err({ kind: "upstream_error", failed: failed.value })
    : readSweptTask(ports, task, failure.detail);
}

/**
 * Reads a task that the recovery resolved before the provider's answer arrived. Returns it, even if `lateResult` is a
 * failure, because its idempotency key returns it, too:
 * - it continues (found at the provider, or queued again)
 * - failed: stops the accepted generation, because nobody else works on it
 * - not found: its owner has deleted the ended task
 * `upstreamTaskId`: the accepted generation, an orphan unless the task has this id.
 */
async function readSweptTask(
  ports: SubmissionPorts,
  task: SubmittingTask,
  lateResult: string,
  upstreamTaskId?: string,
): Promise<Result<Task, never>> {
  const { tasks, reporter } = ports;
  const { id, accountId } = task;
  const current = (await tasks.find(id, accountId)) ?? task;
  const continues = current.state !== "failed";
  const known = "upstreamTaskId" in current && current.upstreamTaskId;
  if (!continues || (upstreamTaskId !== undefined && upstreamTaskId !== known)) {
    const detail = `ended after the submission deadline: ${lateResult}`;
    reporter.report({ kind: "possible_orphan", taskId: id, detail });
    if (!continues && upstreamTaskId !== undefined) await stopGeneration(ports, { id, upstreamTaskId });
  }
  return ok(current);
}
