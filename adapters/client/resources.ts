import type { PublicTask } from "../../application/events/public-task.js";
import type { Resolution } from "../../domain/images/resolution.js";
import type { PublicReason } from "../../domain/tasks/public-reason.js";
import type { Visibility } from "../../domain/tasks/visibility.js";

/**
 * A creation, with the names of the REST interface. Needs a prompt, reference images, or both. See also
 * `PanoramaClient.abilities`.
 */
export type CreationInput = CreationOptions &
  (
    | { readonly prompt: string; readonly image_urls?: readonly string[] | undefined }
    | { readonly prompt?: string | undefined; readonly image_urls: readonly string[] }
  );

type CreationOptions = {
  /** `1k`: 1024 × 512 pixels; `2k`: 2048 × 1024; `4k`: 3840 × 1920. */
  readonly resolution: Resolution;
  /** Default: `private`. */
  readonly visibility?: Visibility | undefined;
  /** 0 to 2147483647. Repeats a picture if the provider supports seeds. */
  readonly seed?: number | undefined;
  /** Your own data: up to 16 pairs. The list can be filtered by it. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Maximum cost in credits. If it costs more, nothing is created. */
  readonly max_credits?: number | undefined;
  /** An https URL that receives the events of this task. */
  readonly webhook_url?: string | undefined;
};

/** The picture of a task that has succeeded. Only its owner can open the `viewer_url` of a private panorama. */
export type PanoramaOutput = AsSent<"thumbnail_url", NonNullable<PublicTask["output"]>>;

/** Reason of a failed task. A later version of the service may add reasons: treat them as `provider_failed`. */
export type FailureReason = PublicReason | (string & {});

/** The error of a task that has failed: `message` for people, `reason` for programs, and the field at fault. */
export type TaskError = AsSent<"param", Omit<NonNullable<PublicTask["error"]>, "reason">> & {
  readonly reason: FailureReason;
};

/** A type as the service sends it: readonly, and only the members in `Optional` may be absent. */
type AsSent<Optional extends keyof Task, Task = PublicTask> = Readonly<
  Required<Omit<Task, Optional>> & { [Name in Optional]?: Exclude<Task[Name], undefined> }
>;

/** Members of every task. Times are RFC 3339, in UTC. If a task fails, its credits are refunded. */
type TaskCore = AsSent<
  "prompt" | "seed",
  Pick<
    PublicTask,
    | "id"
    | "credits_charged"
    | "created_at"
    | "resolution"
    | "visibility"
    | "prompt"
    | "image_urls"
    | "seed"
    | "metadata"
  >
>;

/** A task that is queued or being generated. `queue_position`, `estimated_seconds`: absent if unknown. */
export type ProcessingTask = TaskCore & { readonly status: "processing" } & AsSent<
    "queue_position" | "estimated_seconds",
    Pick<PublicTask, "queue_position" | "estimated_seconds">
  >;

/**
 * A task with a picture. `output` may be absent for a moment after the task has succeeded. `hidden_reason`: only if the
 * operator has hidden the panorama.
 */
export type SucceededTask = TaskCore & {
  readonly status: "succeeded";
  readonly finished_at: string;
  readonly output?: PanoramaOutput;
  readonly hidden_reason?: string;
};

/** A task without a picture. Its credits are refunded. */
export type FailedTask = TaskCore & {
  readonly status: "failed";
  readonly finished_at: string;
  readonly error: TaskError;
};

/** A task, by its `status`. */
export type PanoramaTask = ProcessingTask | SucceededTask | FailedTask;

/** The end of a canceled task, for a key without the scope `read`. */
export type CanceledTask = Pick<PanoramaTask, "id" | "status" | "credits_charged"> & { readonly error?: TaskError };

/** The answer to a creation. `status` is `processing`, also if it was repeated: read the task for its status. */
export type CreatedTask = TaskCore & { readonly status: PanoramaTask["status"] };

/** The task of `PanoramaClient.run`, with its picture. */
export type FinishedPanorama = SucceededTask & { readonly output: PanoramaOutput };

/** Narrows the list: a task must match every member. */
export type ListFilter = {
  readonly status?: PanoramaTask["status"] | undefined;
  readonly visibility?: Visibility | undefined;
  /** Created after this time, exclusive. A text is RFC 3339. */
  readonly created_after?: Date | string | undefined;
  /** Created before this time, exclusive. */
  readonly created_before?: Date | string | undefined;
  /** The task has at least these pairs. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
};

/** A page of the list, newest first. `next_cursor` is `null` on the last one. */
export type TaskPage = { readonly data: readonly PanoramaTask[]; readonly next_cursor: string | null };

/** The public URLs, in the order of the images. `expires_at` (RFC 3339): unused images are deleted then. */
export type UploadedImages = { readonly image_urls: readonly string[]; readonly expires_at: string };

/** Balance, reserved and spent credits of an account. */
export type CreditTotals = {
  readonly remaining_credits: number;
  readonly reserved_credits: number;
  readonly spent_credits: number;
};

/**
 * A ledger entry, in credits. Which optional members exist depends on `kind`. A later version of the service may add
 * kinds. `at` is RFC 3339.
 */
export type CreditEntry = {
  readonly kind: "purchase" | "reservation" | "refund" | "adjustment" | (string & {});
  readonly credits: number;
  readonly balance_after: number;
  readonly task_id?: string;
  readonly order_id?: string;
  /** The API key that has created the panorama. */
  readonly key_id?: string;
  /** The operator's reason for an adjustment. */
  readonly reason?: string;
  readonly at: string;
};

/** A page of the ledger, newest first. `next_cursor` is `null` on the last one. */
export type CreditEntryPage = { readonly data: readonly CreditEntry[]; readonly next_cursor: string | null };

/**
 * An event from a stream or a webhook. `id` is the same each time that an event is sent: ignore events that you have
 * handled. A later version of the service may add types: ignore unknown ones.
 */
export type PanoramaEvent = { readonly id: string; readonly timestamp: string } & (
  | { readonly type: "panorama.succeeded" | "panorama.failed" | "panorama.saved"; readonly data: PanoramaTask }
  | { readonly type: "credits.low"; readonly data: Pick<CreditTotals, "remaining_credits"> }
);
