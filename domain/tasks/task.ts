import { err, ok, type Result } from "neverthrow";
import type { AccountSuspended } from "../accounts/account.js";
import type { ApiKeyId } from "../accounts/api-key.js";
import { admitSpending, type BudgetSpent, type Budgets, type Spending } from "../credits/budget.js";
import type { Rate } from "../credits/rate-limit.js";
import {
  type CapturedReservation,
  capture,
  type HeldReservation,
  type InsufficientCredits,
  type RefundedReservation,
  refund,
  reserve,
  type TooManyActiveTasks,
} from "../credits/reservation.js";
import type { LowBalance, Standing } from "../credits/standing.js";
import type { AccountId, TaskId } from "../ids.js";
import type { ObjectName } from "../images/object-name.js";
import type { ResultFigures, StartView } from "../images/picture.js";
import type { PixelSize, Prices } from "../images/resolution.js";
import { isPermanent, type StoredImage, uploading } from "../images/storage-status.js";
import type { CreationRequest } from "./creation-request.js";
import { admitAfterFailures, type TooManyFailures } from "./failure-budget.js";
import { NO_METADATA } from "./metadata.js";
import type { Slug } from "./slug.js";

/**
 * A panorama task (specification, Panorama task).
 *
 *      ┌────requeue───────┐
 *      ▼                  │
 *   queued ──start──▶ submitting ──submit──▶ submitted ──finish──▶ generated ──succeed──▶ succeeded
 *      └──────fail────────┴─────────fail─────────┴───────fail──────────┴────────fail───▶ failed
 *
 * `queued`: credits are held and no generation was started; the task waits for room at the provider (queue.ts).
 * `submitting`: the provider is asked, and its answer is not recorded yet.
 * `submitted`: the upstream task id is recorded.
 * `generated`: the provider has a result; whether it is a usable picture is not known yet (picture.ts).
 *
 * The client sees all four as `processing`. A task returns to the queue only if certainly nothing was started for it.
 * Each return increments `submissions`; all other states are entered once. So `state` and `submissions` together
 * distinguish two versions of a task. Each submission is sent once, by the caller that made the task `submitting`.
 */
export type Task = QueuedTask | SubmittingTask | SubmittedTask | GeneratedTask | SucceededTask | FailedTask;

/** All states of tasks. */
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
  /** Why others cannot see its panorama (out-of-sight.ts); `undefined`: its visibility decides. */
  readonly hiddenReason?: string | undefined;
};
/**
 * What makes or has made it: the place of the provider whose slot it holds or has held (queue.ts), such as
 * `fal:seedream-4.5`. `undefined` if none was recorded.
 */
type Placed = { readonly place?: string | undefined };
type Accepted = Placed & { readonly submittedAt: Date; readonly upstreamTaskId: string };
/** What was measured in its result; `undefined` if none was decoded. */
type Measured = { readonly figures?: ResultFigures | undefined };

/** The owner wants the task canceled. `refusedAt`: when the provider was asked and did not stop the generation. */
export type CancelWish = { readonly wantedAt: Date; readonly refusedAt?: Date | undefined };
/** What may still be canceled remembers the wish, so that whoever works on the task carries it out. */
type Cancelable = { readonly cancelWish?: CancelWish | undefined };

/** Waits for a slot of the provider. */
export type QueuedTask = TaskCore &
  Cancelable & {
    readonly state: "queued";
    readonly reservation: HeldReservation;
    /** The round of the queue in which it starts (queue.ts). */
    readonly turn: number;
    /** How many submissions have ended before, each without starting a generation. */
    readonly submissions: number;
  };
/** Holds credits and a slot; the provider has not confirmed it. */
export type SubmittingTask = TaskCore &
  Cancelable &
  Placed & {
    readonly state: "submitting";
    readonly reservation: HeldReservation;
    /** Its turn if it was `queued` before. Then its creation request has been answered already. */
    readonly turn: number | undefined;
    /** How many submissions have ended before this one. */
    readonly submissions: number;
  };
/** The provider works on it. */
export type SubmittedTask = TaskCore &
  Accepted &
  Cancelable & { readonly state: "submitted"; readonly reservation: HeldReservation };
/** The provider has a result, which is not checked yet. */
export type GeneratedTask = TaskCore &
  Accepted &
  Measured & { readonly state: "generated"; readonly reservation: HeldReservation; readonly temporaryUrl: string };
/** Has a usable picture; its credits are spent. */
export type SucceededTask = TaskCore &
  Accepted &
  Measured & {
    readonly state: "succeeded";
    readonly reservation: CapturedReservation;
    readonly succeededAt: Date;
    readonly image: StoredImage;
    /** The size of the provider's result. */
    readonly nativeSize: PixelSize;
  };
/**
 * Which reference image a failure is about, counted from 0, and what is wrong with it: a clause for the customer, such
 * as "its host answered with status 404". `undefined`: that is not known.
 */
export type ImageFault = { readonly imageIndex?: number | undefined; readonly imageProblem?: string | undefined };
/** Has no picture; its credits were refunded. */
export type FailedTask = TaskCore &
  Placed &
  ImageFault &
  Measured & {
    readonly state: "failed";
    readonly reservation: RefundedReservation;
    readonly failedAt: Date;
    readonly reason: FailureReason;
    /** What the provider or this service said about it, for operators. */
    readonly detail?: string | undefined;
  };

/** Tasks that may still change state; the client sees them as `processing`. */
export type ActiveTask = QueuedTask | SubmittingTask | SubmittedTask | GeneratedTask;

/**
 * Why a task failed.
 *
 * Before the provider accepted it: `never_started` (it waited too long in the queue), `refused`, `submission_unknown`
 * (no clear answer), `never_submitted` (no answer was recorded before the deadline).
 * Afterwards: `generation_failed`, `unusable_result` (not a usable picture), `deadline_passed`.
 *
 * Before or afterwards: `content_refused` (by the provider's content rules), `reference_unreachable` (a reference image
 * could not be read from its URL), `reference_unusable` (the provider could not use a reference image),
 * `provider_unavailable` (it does not work, and nothing was made), `canceled` (by its owner).
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

/** Counts against the account's concurrency limit (specification, Task `status`). */
export const isActive = (task: Task): task is ActiveTask =>
  task.state === "queued" || task.state === "submitting" || task.state === "submitted" || task.state === "generated";

/**
 * Whether the task may still end without a cost: it waits in the queue, its submission is not answered yet, or a
 * generation is running that the provider may be able to stop. A `generated` one has its result.
 */
export const isCancelable = (task: Task): task is QueuedTask | SubmittingTask | SubmittedTask =>
  task.state === "queued" || task.state === "submitting" || task.state === "submitted";

/** How long the provider is not asked again to stop a generation after it did not. */
export const CANCEL_REFUSAL_REMEMBERED_MILLISECONDS = 60_000;

/** Whether the owner wants the task canceled, and the provider was not asked since. */
export const wantsCancel = ({ cancelWish }: Cancelable): boolean =>
  cancelWish !== undefined && cancelWish.refusedAt === undefined;

/**
 * Whether the provider has lately not stopped the generation. A time in the future is one of a clock that was set back.
 */
export const isCancelRefused = ({ cancelWish }: Cancelable, now: Date): boolean =>
  cancelWish?.refusedAt !== undefined &&
  Math.abs(now.getTime() - cancelWish.refusedAt.getTime()) < CANCEL_REFUSAL_REMEMBERED_MILLISECONDS;

/** The owner wants the task canceled. */
export const wantCancel = <T extends SubmittingTask | SubmittedTask>(task: T, now: Date): T => ({
  ...task,
  cancelWish: { wantedAt: now },
});

/** The provider was asked, and did not stop the generation. */
export const refuseCancel = (task: SubmittedTask, now: Date): SubmittedTask => ({
  ...task,
  cancelWish: { wantedAt: task.cancelWish?.wantedAt ?? now, refusedAt: now },
});

/** Whether the task is still being generated, or its image still being stored. */
export const isInProgress = (task: Task): boolean =>
  isActive(task) || (task.state === "succeeded" && task.image.status === "uploading");

/**
 * Whether the creation request is answered with an error instead of the task. The idempotency key of such a creation
 * can be used again.
 */
export const isRefusedCreation = (before: Task, next: Task): boolean =>
  before.state === "submitting" && before.turn === undefined && next.state === "failed";

/** Whether the public gallery shows the task: it is public, and its image is in permanent storage. */
export const isInGallery = (task: Task): task is SucceededTask =>
  task.state === "succeeded" && task.request.visibility === "public" && isPermanent(task.image);

/** Where viewers look first: at the best part of the picture. `undefined`: at its middle. */
export const startViewOf = ({ figures }: SucceededTask): StartView | undefined => figures?.view;

/** The `status` that the client sees (specification, Panorama task). */
export const statusOf = (task: Task): "processing" | "succeeded" | "failed" =>
  isActive(task) ? "processing" : task.state;

/**
 * A new task, and the standing of its account with this task included. `lowBalance`: with this task, the balance has
 * fallen below the account's threshold.
 */
export type OpenedTask = {
  readonly task: QueuedTask | SubmittingTask;
  readonly standing: Standing;
  readonly lowBalance?: LowBalance | undefined;
};

/** The budgets of the key that creates a task, and what it has spent. */
export type BudgetState = { readonly budgets: Budgets; readonly spending: Spending };

/** Why no task is opened. Nothing is charged. */
export type OpeningRefusal =
  | AccountSuspended
  | InsufficientCredits
  | BudgetSpent
  | TooManyFailures
  | TooManyActiveTasks;

/** A task before it is opened. */
export type TaskDraft = Pick<TaskCore, "id" | "slug" | "request"> & Partial<Pick<TaskCore, "apiKeyId" | "traceparent">>;

/** What decides about a task that is opened, besides the standing of its account. */
export type OpeningTerms = {
  /** The price and the limits. */
  readonly policy: {
    readonly prices: Prices;
    readonly activeMax: number;
    readonly rates: { readonly write: Rate };
    /** Whether an open dispute refuses it. Absent: no. */
    readonly suspendOnDispute?: boolean | undefined;
  };
  readonly now: Date;
  /** With a turn the task is `queued`; without one it is `submitting`, to be submitted now. */
  readonly turn?: number | undefined;
  /** The place of the provider whose slot a `submitting` task holds. */
  readonly place?: string | undefined;
  readonly budget?: BudgetState | undefined;
};

/**
 * Opens a task if the account's standing and the key's budget allow it. Checks first whether the account is suspended,
 * then the credits, today's failures and the active tasks, in the order that the specification demands.
 */
export const openTask = (
  standing: Standing,
  draft: TaskDraft,
  { policy, now, turn, place, budget }: OpeningTerms,
): Result<OpenedTask, OpeningRefusal> => {
  const { accountId, failures } = standing;
  const { prices, activeMax, rates } = policy;
  const cost = prices[draft.request.resolution];
  const { suspensionReason: reason } = standing;
  if (reason !== undefined) return err({ kind: "account_suspended", reason });
  if (policy.suspendOnDispute && (standing.openDisputes ?? 0) > 0) {
    return err({ kind: "insufficient_credits", balance: standing.credits, cost, isSuspended: true });
  }
  const admitCost = (): Result<void, BudgetSpent | TooManyFailures> => {
    const within = budget === undefined ? ok(undefined) : admitSpending(budget.budgets, budget.spending, cost, now);
    return within.isErr() ? within : admitAfterFailures(failures, rates.write, now);
  };
  return reserve(standing, { taskId: draft.id, cost }, activeMax, admitCost).map(
    ({ reservation, standing: after, lowBalance }) => {
      const core = { ...draft, apiKeyId: draft.apiKeyId, accountId, reservedAt: now, reservation, submissions: 0 };
      const task: OpenedTask["task"] =
        turn === undefined ? { ...core, state: "submitting", turn, place } : { ...core, state: "queued", turn };
      return { task, standing: after, ...(lowBalance && { lowBalance }) };
    },
  );
};

/** This place of the provider has room for the task. */
export const start = (task: QueuedTask, place: string): SubmittingTask => ({ ...task, state: "submitting", place });

/** The submission has certainly started nothing, because the provider has no room now. The task waits for its turn. */
export const requeue = ({ place: _, ...task }: SubmittingTask, turn: number): QueuedTask => ({
  ...task,
  state: "queued",
  turn,
  submissions: task.submissions + 1,
});

/** The provider accepted the task under its own id. */
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

/** The clock was set back after the submission: the age of the task counts from `now`, so that its deadline is near. */
export const restartAge = <T extends SubmittedTask | GeneratedTask>(task: T, now: Date): T => ({
  ...task,
  submittedAt: now,
});

/** The provider has ended the generation with a result at its temporary URL. */
export const finish = ({ cancelWish: _, ...task }: SubmittedTask, temporaryUrl: string): GeneratedTask => ({
  ...task,
  state: "generated",
  temporaryUrl,
});

/** The result was decoded. */
export const withFigures = (task: GeneratedTask, figures: ResultFigures): GeneratedTask => ({ ...task, figures });

/** The result is a usable picture of `nativeSize`; the held credits are spent. */
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

/** What makes or has made the task; `undefined` for a queued one, and if none was recorded. */
export const placeOf = (task: Task): string | undefined => ("place" in task ? task.place : undefined);

/** There will be no image; the held credits return to the account. */
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

/** The texts of a task without a picture are kept for so long after it failed or was deleted. */
export const TEXTS_KEPT_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

/**
 * Without prompt, image URLs and metadata: the task has no picture, so that only its credits and end matter any more.
 */
export const withoutTexts = (task: Task): Task => {
  const request = { ...task.request, prompt: undefined, imageUrls: [], metadata: NO_METADATA };
  // No such request is accepted, but it is how the request of an erased task is read.
  return { ...task, request: request as unknown as CreationRequest };
};

/** Replaces the image after a transition of its own state machine (storage-status.ts). */
export const withImage = (task: SucceededTask, image: StoredImage): SucceededTask => ({ ...task, image });

/** The image of the task got another name. */
export const isRenamed = (before: Task, next: Task): boolean =>
  before.state === "succeeded" && next.state === "succeeded" && before.image.imageName !== next.image.imageName;
