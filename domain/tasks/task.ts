import type { ApiKeyId } from "../accounts/api-key.js";
import {
  type CapturedReservation,
  capture,
  type HeldReservation,
  type RefundedReservation,
  refund,
} from "../credits/reservation.js";
import type { AccountId, TaskId } from "../ids.js";
import type { ObjectName } from "../images/object-name.js";
import type { ResultFigures, StartView } from "../images/picture.js";
import type { PixelSize } from "../images/resolution.js";
import type { DigitalSourceType } from "../images/source-type.js";
import { isPermanent, type StoredImage, uploading } from "../images/storage-status.js";
import type { CreationRequest } from "./creation-request.js";
import type { Slug } from "./slug.js";

/**
 * A panorama task (specification, Panorama task).
 *
 *      ┌────requeue───────┐
 *      ▼                  │
 *   queued ──start──▶ submitting ──submit──▶ submitted ──finish──▶ generated ──succeed──▶ succeeded
 *      └──────fail────────┴─────────fail─────────┴───────fail──────────┴────────fail───▶ failed
 *
 * `queued`: credits are held and no generation was started; the task waits for a free slot of the provider (queue.ts).
 * `submitting`: the provider is asked, and its answer is not recorded yet.
 * `submitted`: the upstream task id is recorded.
 * `generated`: the provider has a result, which is not checked yet (picture.ts).
 *
 * The client sees all four as `processing`. A task returns to the queue only if certainly nothing was started for it.
 * Each return increments `submissions`. A task enters `queued` and `submitting` at most once for each value of
 * `submissions`, and every other state at most once. So `state` and `submissions` together identify a version of a
 * task. Only the caller that made the task `submitting` may send it.
 */
export type Task = QueuedTask | SubmittingTask | SubmittedTask | GeneratedTask | SucceededTask | FailedTask;

export const TASK_STATES: readonly Task["state"][] = [
  "queued",
  "submitting",
  "submitted",
  "generated",
  "succeeded",
  "failed",
];

type TaskCore = {
  readonly id: TaskId;
  readonly accountId: AccountId;
  readonly slug: Slug;
  readonly request: CreationRequest;
  /** The key that created it; `undefined` if it was created on the web pages. */
  readonly apiKeyId: ApiKeyId | undefined;
  readonly reservedAt: Date;
  /** The W3C trace context of its creation. */
  readonly traceparent?: string | undefined;
  /** The operator's reason for hiding the panorama (out-of-sight.ts); `undefined`: not hidden. */
  readonly hiddenReason?: string | undefined;
};
/**
 * The provider place that generates the task, such as `fal:seedream-4.5`. The task holds, or held, a slot of this place
 * (queue.ts). `undefined`: not recorded.
 */
type Placed = { readonly place?: string | undefined };
type Accepted = Placed & { readonly submittedAt: Date; readonly upstreamTaskId: string };
/** Measured figures of the result, and how it was made; `undefined` until it is decoded. */
type Measured = { readonly figures?: ResultFigures | undefined; readonly sourceType?: DigitalSourceType | undefined };

/**
 * The owner's request to cancel a task. `refusedAt`: time at which the provider last declined to stop the generation.
 */
export type CancelRequest = { readonly wantedAt: Date; readonly refusedAt?: Date | undefined };
/** Part of a task that its owner may cancel. The worker that holds its lease carries out the request. */
export type Cancelable = { readonly cancelRequest?: CancelRequest | undefined };

/** A task that waits for a slot of the provider. */
export type QueuedTask = TaskCore &
  Cancelable & {
    readonly state: "queued";
    readonly reservation: HeldReservation;
    /** The round of the queue in which it starts (queue.ts). */
    readonly turn: number;
    /** Number of earlier submissions. None of them started a generation. */
    readonly submissions: number;
  };
/** A task that holds credits and a slot; the provider has not confirmed it. */
export type SubmittingTask = TaskCore &
  Cancelable &
  Placed & {
    readonly state: "submitting";
    readonly reservation: HeldReservation;
    /** The turn in the queue. `undefined`: never queued. Usually the creation request still waits. */
    readonly turn: number | undefined;
    /** Number of earlier submissions. None of them started a generation. */
    readonly submissions: number;
  };
/** A task that the provider works on. */
export type SubmittedTask = TaskCore &
  Accepted &
  Cancelable & { readonly state: "submitted"; readonly reservation: HeldReservation };
/** A task with a result at the provider, which is not checked yet. */
export type GeneratedTask = TaskCore &
  Accepted &
  Measured & { readonly state: "generated"; readonly reservation: HeldReservation; readonly temporaryUrl: string };
/** A task with a usable picture; its credits are spent. */
export type SucceededTask = TaskCore &
  Accepted &
  Measured & {
    readonly state: "succeeded";
    readonly reservation: CapturedReservation;
    readonly succeededAt: Date;
    readonly image: StoredImage;
    /** Size of the provider's result. */
    readonly nativeSize: PixelSize;
  };
/**
 * The reference image that caused a failure: its index from 0, and a clause for the customer, such as "its host
 * answered with status 404". Both `undefined` if unknown.
 */
export type ImageFault = { readonly imageIndex?: number | undefined; readonly imageProblem?: string | undefined };
/** A task without a picture; its credits were refunded. */
export type FailedTask = TaskCore &
  Placed &
  ImageFault &
  Measured & {
    readonly state: "failed";
    readonly reservation: RefundedReservation;
    readonly failedAt: Date;
    readonly reason: FailureReason;
    /** Detail for operators, from the provider or from this service. */
    readonly detail?: string | undefined;
  };

/** Tasks that may still change state; the client sees them as `processing`. */
export type ActiveTask = QueuedTask | SubmittingTask | SubmittedTask | GeneratedTask;

/**
 * Reasons of a failed task.
 *
 * Before the provider accepted it: `never_started` (waited too long in the queue), `refused`, `submission_unknown` (no
 * clear answer), `never_submitted` (no answer was recorded before the deadline, nor found later).
 * Afterwards: `generation_failed`, `unusable_result` (not a usable picture), `deadline_passed`.
 * Before or afterwards: `content_refused` (by the provider's content rules), `reference_unreachable` (a reference image
 * could not be read from its URL), `reference_unusable` (the provider could not use a reference image),
 * `provider_unavailable` (an outage without a result), `canceled` (by the owner).
 */
export const FAILURE_REASONS = [
  "never_started",
  "refused",
  "submission_unknown",
  "never_submitted",
  "generation_failed",
  "unusable_result",
  "deadline_passed",
  "content_refused",
  "reference_unreachable",
  "reference_unusable",
  "provider_unavailable",
  "canceled",
] as const;

/** One of `FAILURE_REASONS`. */
export type FailureReason = (typeof FAILURE_REASONS)[number];

/** True if the task counts for the account's concurrency limit (specification, Task `status`). */
export const isActive = (task: Task): task is ActiveTask =>
  task.state === "queued" || task.state === "submitting" || task.state === "submitted" || task.state === "generated";

/** True while the task is active, or its image is still `uploading`. */
export const isInProgress = (task: Task): boolean =>
  isActive(task) || (task.state === "succeeded" && task.image.status === "uploading");

/**
 * True if a task fails that was never queued, while its creation request waits: the request gets an error, and the
 * idempotency key is free again. A `never_submitted` task keeps the key, because its client may know the task's id.
 */
export const isRefusedCreation = (before: Task, next: Task): boolean =>
  before.state === "submitting" &&
  before.turn === undefined &&
  next.state === "failed" &&
  next.reason !== "never_submitted";

/** True if the public gallery shows the task: it is public, and its image is in permanent storage. */
export const isInGallery = (task: Task): task is SucceededTask =>
  task.state === "succeeded" && task.request.visibility === "public" && isPermanent(task.image);

/**
 * True if the account may make a panorama from this one: its own, or a public one. Without an account, a public one.
 * Its image is in permanent storage, and no operator has hidden it.
 */
export const isReferenceFor = (task: Task, account: AccountId | undefined): task is SucceededTask =>
  task.state === "succeeded" &&
  isPermanent(task.image) &&
  task.hiddenReason === undefined &&
  (task.accountId === account || task.request.visibility === "public");

/** Initial view direction: the best part of the picture. `undefined`: its middle. */
export const startViewOf = ({ figures }: SucceededTask): StartView | undefined => figures?.view;

/** The `status` that the client sees (specification, Panorama task). */
export const statusOf = (task: Task): "processing" | "succeeded" | "failed" =>
  isActive(task) ? "processing" : task.state;

/** Begins a submission at `place`, where the task takes a slot. */
export const start = (task: QueuedTask, place: string): SubmittingTask => ({ ...task, state: "submitting", place });

/** Returns the task to the queue. Only allowed if the provider certainly started nothing. */
export const requeue = ({ place: _, ...task }: SubmittingTask, turn: number): QueuedTask => ({
  ...task,
  state: "queued",
  turn,
  submissions: task.submissions + 1,
});

/** Records that the provider accepted the task, with the provider's id. */
export const submit = (
  { turn: _, submissions: __, ...task }: SubmittingTask,
  upstreamTaskId: string,
  now: Date,
): SubmittedTask => ({
  ...task,
  state: "submitted",
  submittedAt: now,
  upstreamTaskId,
});

/** Restarts the deadline at `now`. Used for a submission time in the future, after the clock was set back. */
export const restartDeadline = <T extends SubmittedTask | GeneratedTask>(task: T, now: Date): T => ({
  ...task,
  submittedAt: now,
});

/** Records that the generation has ended, with its result at `temporaryUrl`. */
export const finish = ({ cancelRequest: _, ...task }: SubmittedTask, temporaryUrl: string): GeneratedTask => ({
  ...task,
  state: "generated",
  temporaryUrl,
});

/** Adds the figures of the decoded result. */
export const withFigures = (task: GeneratedTask, figures: ResultFigures): GeneratedTask => ({ ...task, figures });

/** Ends the task with a usable picture of `nativeSize`; the held credits are spent. */
export const succeed = (
  { temporaryUrl, ...task }: GeneratedTask,
  imageName: ObjectName,
  nativeSize: PixelSize,
  now: Date,
): SucceededTask => ({
  ...task,
  state: "succeeded",
  reservation: capture(task.reservation),
  succeededAt: now,
  image: uploading(temporaryUrl, imageName),
  nativeSize,
});

/** The provider place of the task; `undefined` while queued, or if not recorded. */
export const placeOf = (task: Task): string | undefined => ("place" in task ? task.place : undefined);

/** Ends the task without an image; the held credits return to the account. */
export const fail = (
  task: ActiveTask,
  reason: FailureReason,
  now: Date,
  { imageIndex, imageProblem }: ImageFault = {},
): FailedTask => {
  const { id, accountId, slug, request, apiKeyId, reservedAt, reservation } = task;
  return {
    id,
    accountId,
    slug,
    request,
    apiKeyId,
    reservedAt,
    place: placeOf(task),
    figures: "figures" in task ? task.figures : undefined,
    state: "failed",
    reservation: refund(reservation),
    failedAt: now,
    reason,
    imageIndex,
    imageProblem,
  };
};

/** Replaces the image after a transition of its own state machine (storage-status.ts). */
export const withImage = (task: SucceededTask, image: StoredImage): SucceededTask => ({ ...task, image });

/** True if the image of the task got another name. */
export const isRenamed = (before: Task, next: Task): boolean =>
  before.state === "succeeded" && next.state === "succeeded" && before.image.imageName !== next.image.imageName;
