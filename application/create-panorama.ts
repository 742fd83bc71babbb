import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../domain/account.js";
import type { TooManyActiveTasks } from "../domain/concurrency-limit.js";
import { type CreationRequest, canonicalText } from "../domain/creation-request.js";
import type { IdempotencyKey } from "../domain/idempotency.js";
import { legal } from "../domain/illegal-transition.js";
import type { InvalidRequest } from "../domain/invalid-request.js";
import type { InsufficientCredits } from "../domain/reservation.js";
import { type FailureReason, fail, openTask, submit, type Task } from "../domain/task.js";
import type { Clock } from "./ports/clock.js";
import type { GenerationProvider, SubmissionFailure } from "./ports/generation-provider.js";
import type { Ids } from "./ports/ids.js";
import type { Reporter } from "./ports/reporter.js";
import type { Secrets } from "./ports/secrets.js";
import type { TaskSignals } from "./ports/task-signals.js";
import type { TaskStore } from "./ports/task-store.js";

/** The provider did not take the task; the credits are back. */
export type UpstreamError = { readonly kind: "upstream_error" };

export type CreatePanoramaError = InvalidRequest | InsufficientCredits | TooManyActiveTasks | UpstreamError;

/** `replayed`: the idempotency key named this task already; nothing was started or charged by this call. */
export type CreatedPanorama = { readonly task: Task; readonly replayed: boolean };

type Ports = {
  readonly tasks: TaskStore;
  readonly provider: GenerationProvider;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: Secrets;
  readonly signals: TaskSignals;
  readonly reporter: Reporter;
};

/** `submissionDeadlineMilliseconds`: a task without a recorded answer of the provider after this time is swept. */
type Settings = { readonly submissionDeadlineMilliseconds: number };

export type CreatePanorama = ReturnType<typeof createPanorama>;

/** `POST /panoramas`: reserves the credits, then asks the provider. A refused creation costs nothing. */
export const createPanorama =
  (ports: Ports, { submissionDeadlineMilliseconds }: Settings) =>
  async (
    owner: AccountId,
    request: CreationRequest,
    idempotencyKey?: IdempotencyKey,
  ): Promise<Result<CreatedPanorama, CreatePanoramaError>> => {
    const { tasks, provider, clock, ids, secrets, reporter, signals } = ports;
    const possible = provider.canMake(request);
    if (possible.isErr()) return err(possible.error);
    const idempotent = idempotencyKey && { key: idempotencyKey, requestSha256: secrets.sha256(canonicalText(request)) };
    const now = clock.now();
    const deadline = new Date(now.getTime() + submissionDeadlineMilliseconds);
    const draft = { id: ids.taskId(), slug: ids.slug(), request };

    const opened = await tasks.open(owner, deadline, idempotent, (standing) => openTask(standing, draft, now));
    if (opened.isErr()) return err(opened.error);
    const { task, replayed } = opened.value;
    if (replayed) return ok({ task, replayed });

    // No transaction is open now: the provider may take seconds, and the process may die meanwhile.
    const submission = await provider.submit({ taskId: task.id, request });
    if (submission.isErr()) return failAndRefund(ports, task, submission.error);

    const submittedAt = clock.now();
    const submitted = legal(submit(task, submission.value, submittedAt));
    const firstLook = new Date(submittedAt.getTime() + provider.nextLookMilliseconds(submission.value, 0));
    const recorded = await tasks.move(task, submitted, firstLook);
    if (recorded.isErr()) return afterTheSweep(ports, task, `accepted as ${submission.value}`);
    reporter.report({ kind: "task_submitted", taskId: task.id, upstreamTaskId: submission.value });
    signals.announce(submitted);
    return ok({ task: submitted, replayed: false });
  };

const reasonOf: Record<SubmissionFailure["kind"], FailureReason> = {
  refused: "refused",
  unknown: "submission_unknown",
};

const failAndRefund = async (
  ports: Ports,
  task: Task,
  failure: SubmissionFailure,
): Promise<Result<CreatedPanorama, UpstreamError>> => {
  const { tasks, clock, reporter, signals } = ports;
  const reason = reasonOf[failure.kind];
  const failed = legal(fail(task, reason, clock.now()));
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
  { tasks, reporter }: Ports,
  { id, accountId }: Task,
  lateEnd: string,
): Promise<Result<CreatedPanorama, UpstreamError>> => {
  const current = await tasks.find(id, accountId);
  if (current !== undefined && current.state !== "failed") return ok({ task: current, replayed: false });
  reporter.report({ kind: "possible_orphan", taskId: id, detail: `ended after the submission deadline: ${lateEnd}` });
  return err({ kind: "upstream_error" });
};
