import { err, ok, type Result } from "neverthrow";
import type { AccountId, Standing } from "./account.js";
import { admitTask, type TooManyActiveTasks } from "./concurrency-limit.js";
import type { CreationRequest } from "./creation-request.js";
import type { IllegalTransition } from "./illegal-transition.js";
import {
  type CapturedReservation,
  capture,
  type HeldReservation,
  hold,
  type InsufficientCredits,
  type RefundedReservation,
  type Reservation,
  refund,
} from "./reservation.js";
import { costOf } from "./resolution.js";
import type { Slug } from "./slug.js";
import { isKept, type StoredImage, type UploadingImage } from "./storage-status.js";
import type { TaskId } from "./task-id.js";

/**
 * A panorama task (specification, Panorama task).
 *
 *   queued ──start──▶ reserved ──submit──▶ submitted ──succeed──▶ succeeded
 *      └──────fail───────┴────────fail──────────┴────────fail───▶ failed
 *
 * `queued`: credits are held, nothing was sent; it waits until the provider has a free place (queue.ts). `reserved`:
 * credits are held, the upstream call is not answered yet. `submitted`: the upstream task id is recorded. All three are
 * `processing` to the client. No state is entered twice, so `state` alone tells two versions of a task apart, and a task
 * is sent to the provider once: by whoever made it `reserved`.
 */
export type Task = QueuedTask | ReservedTask | SubmittedTask | SucceededTask | FailedTask;

type TaskCore = {
  readonly id: TaskId;
  readonly accountId: AccountId;
  readonly slug: Slug;
  readonly request: CreationRequest;
  readonly reservedAt: Date;
};
type Accepted = { readonly submittedAt: Date; readonly upstreamTaskId: string };

export type QueuedTask = TaskCore & {
  readonly state: "queued";
  readonly reservation: HeldReservation;
  /** Its place in the queue (queue.ts). */
  readonly turn: number;
};
export type ReservedTask = TaskCore & {
  readonly state: "reserved";
  readonly reservation: HeldReservation;
  /** It was queued before: its creation was answered long ago. */
  readonly waited: boolean;
};
export type SubmittedTask = TaskCore &
  Accepted & { readonly state: "submitted"; readonly reservation: HeldReservation };
export type SucceededTask = TaskCore &
  Accepted & {
    readonly state: "succeeded";
    readonly reservation: CapturedReservation;
    readonly succeededAt: Date;
    readonly image: StoredImage;
  };
export type FailedTask = TaskCore & {
  readonly state: "failed";
  readonly reservation: RefundedReservation;
  readonly failedAt: Date;
  readonly reason: FailureReason;
};

/**
 * Why a task failed. Before the provider took it: `never_started` (it waited too long in the queue), `refused`,
 * `submission_unknown` (no clear answer), `never_submitted` (no answer is recorded in time). After: `generation_failed`,
 * `deadline_passed`.
 */
export type FailureReason =
  | "never_started"
  | "refused"
  | "submission_unknown"
  | "never_submitted"
  | "generation_failed"
  | "deadline_passed";

/** Counts against the account's concurrency limit (specification, Task `status`). */
export const isActive = (task: Task): task is QueuedTask | ReservedTask | SubmittedTask =>
  task.state === "queued" || task.state === "reserved" || task.state === "submitted";

/**
 * Whether its creation ended without a task that the client knows of: such a creation leaves its idempotency key free.
 */
export const isRefusedCreation = (before: Task, next: Task): boolean =>
  before.state === "reserved" && !before.waited && next.state === "failed";

/** Shown in the public gallery: a public panorama whose image is kept. */
export const isInGallery = (task: Task): task is SucceededTask =>
  task.state === "succeeded" && task.request.visibility === "public" && isKept(task.image);

/** What the client is told (specification, Panorama task). */
export const statusOf = (task: Task): "processing" | "succeeded" | "failed" =>
  isActive(task) ? "processing" : task.state;

/** A new task, and the standing that its account has with it. */
export type OpenedTask = { readonly task: QueuedTask | ReservedTask; readonly standing: Standing };

/**
 * Opens a task if the account's standing allows it: credits first, then active tasks, as the order of the
 * checks demands. With a turn it is queued, else it is to be sent to the provider at once.
 */
export const openTask = (
  standing: Standing,
  draft: Pick<TaskCore, "id" | "slug" | "request">,
  now: Date,
  turn?: number,
): Result<OpenedTask, InsufficientCredits | TooManyActiveTasks> => {
  const { accountId } = standing;
  const cost = costOf(draft.request.resolution);
  return hold(standing.credits, { taskId: draft.id, accountId, credits: cost }).andThen(({ reservation, balance }) =>
    admitTask(standing.activeTasks).map((activeTasks) => {
      const core = { ...draft, accountId, reservedAt: now, reservation };
      const task: OpenedTask["task"] =
        turn === undefined ? { ...core, state: "reserved", waited: false } : { ...core, state: "queued", turn };
      return { task, standing: { accountId, credits: balance, activeTasks } };
    }),
  );
};

/** The provider has a free place for it. */
export const start = (task: Task): Result<ReservedTask, IllegalTransition> => {
  if (task.state !== "queued") return err({ kind: "illegal_transition", from: task.state, event: "start" });
  const { turn: _, ...core } = task;
  return ok({ ...core, state: "reserved", waited: true });
};

/** The provider accepted the task under its own id. */
export const submit = (task: Task, upstreamTaskId: string, now: Date): Result<SubmittedTask, IllegalTransition> => {
  if (task.state !== "reserved") return err({ kind: "illegal_transition", from: task.state, event: "submit" });
  const { waited: _, ...core } = task;
  return ok({ ...core, state: "submitted", submittedAt: now, upstreamTaskId });
};

/** The image exists at the provider's temporary URL; the held credits are spent. */
export const succeed = (task: Task, image: UploadingImage, now: Date): Result<SucceededTask, IllegalTransition> =>
  task.state === "submitted"
    ? resolved(capture(task.reservation)).map((reservation) => ({
        ...task,
        state: "succeeded",
        reservation,
        succeededAt: now,
        image,
      }))
    : err({ kind: "illegal_transition", from: task.state, event: "succeed" });

/** There will be no image; the held credits go back. */
export const fail = (task: Task, reason: FailureReason, now: Date): Result<FailedTask, IllegalTransition> => {
  if (!isActive(task)) return err({ kind: "illegal_transition", from: task.state, event: "fail" });
  const { id, accountId, slug, request, reservedAt } = task;
  return resolved(refund(task.reservation)).map((reservation) => ({
    id,
    accountId,
    slug,
    request,
    reservedAt,
    state: "failed",
    reservation,
    failedAt: now,
    reason,
  }));
};

/** The image moved on in its own state machine (storage-status.ts). */
export const withImage = (task: SucceededTask, image: StoredImage): SucceededTask => ({ ...task, image });

/** An active task's reservation is held by its type, so resolving it cannot be refused. */
const resolved = <R extends Reservation>(result: Result<R, { kind: "already_resolved"; as: string }>) =>
  result.mapErr(({ as }): IllegalTransition => ({ kind: "illegal_transition", from: as, event: "resolve" }));
