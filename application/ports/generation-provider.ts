import type { Result } from "neverthrow";
import type { TaskId } from "../../domain/ids.js";
import type { DigitalSourceType } from "../../domain/images/source-type.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { Abilities } from "../../domain/tasks/abilities.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import type { ProviderPlace } from "../../domain/tasks/queue.js";
import type { ImageFault } from "../../domain/tasks/task.js";
import type { UnverifiedWebhook } from "../errors.js";

/** A request to the provider. The upstream task is tagged with `taskId`, so that `search` can find it. */
export type GenerationOrder = {
  readonly taskId: TaskId;
  /**
   * Number of earlier submissions of the task, which started nothing. Distinguishes the submissions at a provider that
   * rejects repeated creations. Default: 0.
   */
  readonly submission?: number | undefined;
  /**
   * Opaque id of the task's owner. A provider on this machine shares its processors fairly among owners. Default: each
   * order has an owner of its own. Other providers do not get it.
   */
  readonly owner?: string | undefined;
  readonly request: CreationRequest;
  /** Name of the place whose slot the task holds. The provider asks this place first. */
  readonly place?: string | undefined;
  /**
   * Moves the task to a slot of `place`. Await it before you send the order there. `false`: the place has no free slot,
   * so do not send. Absent: slots are not counted.
   */
  readonly changePlace?: ((place: ProviderPlace) => Promise<boolean>) | undefined;
  /** Sent with the order. */
  readonly traceparent?: string | undefined;
};

/**
 * `refused`: the provider started nothing.
 * `busy`: the provider started nothing, because it has no free capacity; it may accept the same order later.
 * `unknown`: no usable answer (timeout, connection lost, bad response), so an orphaned upstream task may exist.
 * `reason`: for the log only. `cause`: the known cause. After a `CustomersCause` no other provider is asked.
 * `retryAfterMilliseconds`: the pause that a busy provider demands.
 */
export type SubmissionFailure = ImageFault & {
  readonly kind: "refused" | "busy" | "unknown";
  readonly reason: string;
  readonly cause?: CustomersCause | "provider_unavailable" | undefined;
  readonly retryAfterMilliseconds?: number | undefined;
};

/**
 * Failures that the customer can fix. `content_refused`: the provider's content rules. `reference_unreachable`: the
 * provider, or this service for it, could not read a reference image from its URL. `reference_unusable`: the provider
 * could not use a reference image.
 */
export const CUSTOMERS_CAUSES = ["content_refused", "reference_unreachable", "reference_unusable"] as const;
/** One of `CUSTOMERS_CAUSES`. */
export type CustomersCause = (typeof CUSTOMERS_CAUSES)[number];

/** All causes of failed generations. */
export const FAILURE_CAUSES = [
  ...CUSTOMERS_CAUSES,
  "never_started",
  "deadline_passed",
  "provider_unavailable",
  "unusable_result",
] as const;

/**
 * Cause of a failed generation. `never_started`: waited too long at the provider. `deadline_passed`: took too long
 * there. `provider_unavailable`: an outage at the provider. `unusable_result`: ended without a picture.
 */
export type FailureCause = (typeof FAILURE_CAUSES)[number];

/** State of a generation at the provider. `reason`: for the log only. `cause`: the known cause of a failure. */
export type Progress =
  | { readonly state: "running" }
  | { readonly state: "succeeded"; readonly temporaryUrl: string }
  | (ImageFault & {
      readonly state: "failed";
      readonly reason: string;
      readonly cause?: FailureCause | undefined;
    });

/** The provider gave no usable response. The task's state is unknown: retry later. */
export type ProviderUnavailable = { readonly kind: "provider_unavailable"; readonly reason: string };

/** The image at the temporary URL is permanently gone. */
export type ResultGone = { readonly kind: "result_gone"; readonly reason: string };

/**
 * The image can never be downloaded: its URL leads to a private address, to too many bytes, to bytes that arrive too
 * slowly or do not end, or through too many redirects.
 */
export type ResultUnusable = { readonly kind: "result_unusable"; readonly reason: string };

/** Retry only after `provider_unavailable`. */
export type DownloadFailure = ResultGone | ResultUnusable | ProviderUnavailable;

/**
 * Source type of the picture for a request. With reference images it is a composite, because parts of a photo may be
 * visible in the picture.
 */
export const sourceTypeOf = (
  { sourceType = "trainedAlgorithmicMedia" }: Pick<GeneratedImage, "sourceType">,
  { imageUrls }: Pick<CreationRequest, "imageUrls">,
): DigitalSourceType =>
  sourceType === "trainedAlgorithmicMedia" && imageUrls.length > 0
    ? "compositeWithTrainedAlgorithmicMedia"
    : sourceType;

/**
 * A downloaded result. `sourceType`: written into the image; default: `trainedAlgorithmicMedia`. `thumbnail`:
 * `unavailable` only for the test trigger `test:no-thumb`; then make no thumbnail. `ends`: only for `test:expired` and
 * `test:storage-fail`; then set this storage status instead of storing the image.
 */
export type GeneratedImage = {
  readonly bytes: Uint8Array;
  readonly sourceType?: DigitalSourceType;
  readonly thumbnail: "possible" | "unavailable";
  readonly ends?: "expired" | "failed";
};

/**
 * Readiness for a creation. `busy`: not now, because the provider asked for a pause, or other creations wait for the
 * rate limiter. `down`: the circuit breaker is open, so nothing is sent. `probing`: the circuit breaker is half open,
 * so one creation at a time is sent to test the provider.
 */
export type Readiness = "ready" | "busy" | "probing" | "down";

/** `canceled`: the work has stopped, without a charge. */
export type Cancellation = "canceled" | "too_late";

/**
 * A place with its readiness. `abilities`: shown to clients; absent if the place can make everything in the
 * specification.
 */
export type PlaceWithReadiness = ProviderPlace & {
  readonly readiness: Readiness;
  readonly abilities?: Abilities | undefined;
};

/** True if the place is `ready` or `probing`. */
export const acceptsCreations = ({ readiness }: PlaceWithReadiness): boolean =>
  readiness === "ready" || readiness === "probing";

/**
 * A generation model, as a creation and its end use it. Every call has a timeout. Failures, including timeouts, are
 * returned, not thrown.
 */
export interface SubmissionProvider {
  /**
   * The places of the provider, in order of preference: one with the provider's name, or one for each of its servers or
   * providers. A task waits in the queue if no place has a free slot. Makes no call.
   */
  places(): readonly PlaceWithReadiness[];
  /** Maximum number of calls that this instance makes per second; `undefined` means no limit. */
  readonly callsPerSecond: number | undefined;
  /** Delay until the next poll of a task, given its age since submission. Random jitter spreads the polls. */
  nextPollMilliseconds(upstreamTaskId: string, sinceSubmissionMilliseconds: number): number;
  /** Rejects requests that this provider can never fulfil. Makes no call; runs before credits are reserved. */
  checkRequest(request: CreationRequest): Result<void, InvalidRequest>;
  /**
   * Starts one generation and returns the upstream task id. Never retries, so that nothing starts twice.
   *
   * From `submissionDeadline` on, another instance may search for the upstream task and, if there is none, send the
   * order again. So a call that could outlast the deadline is not sent: it returns `busy`. Absent: no other instance
   * sends the order.
   */
  submit(order: GenerationOrder, submissionDeadline?: Date): Promise<Result<string, SubmissionFailure>>;
  /**
   * Finds the upstream task that is tagged with `taskId` and was submitted after `since`. Return `undefined` only if
   * there is certainly none: the task may then be sent again.
   */
  search(taskId: TaskId, since: Date): Promise<Result<string | undefined, ProviderUnavailable>>;
  /**
   * Stops a generation before it is charged. Return `canceled` only when nothing of the generation is queued or
   * running: it uses no processor, memory or slot, has no image and is not charged. `too_late`: it continues, or has
   * ended otherwise. May be repeated. Absent if the provider cannot cancel.
   */
  cancel?(upstreamTaskId: string): Promise<Result<Cancellation, ProviderUnavailable>>;
}

/** A generation model with its results. */
export interface GenerationProvider extends SubmissionProvider {
  /** Name of the provider, with the model if it has several: `fal:seedream-4.5`. */
  readonly name: string;
  /**
   * Providers with the same `account` share upstream task ids, so tasks continue after a change of model. Default:
   * `name`.
   */
  readonly account?: string | undefined;
  /** The best readiness of all places. Makes no call to the provider. */
  readiness(): Readiness;
  poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>>;
  /**
   * Downloads the image of a finished generation from its temporary URL, or from a new URL if the provider issues one.
   * Does not check that the bytes are an image.
   */
  download(temporaryUrl: string, upstreamTaskId: string): Promise<Result<GeneratedImage, DownloadFailure>>;
  /**
   * Deletes the provider's copy of a finished generation. Succeeds if there is none, or if the provider has no call for
   * it. Absent if no generation of the provider can be deleted.
   */
  discard?(upstreamTaskId: string): Promise<Result<void, ProviderUnavailable>>;
  /** True if `discard` is called as soon as the picture is saved. Default: only when the panorama is deleted. */
  readonly discardsSaved?: boolean | undefined;
  /** Maximum time of a generation, if the provider has one. It must not exceed the generation deadline. */
  readonly timeoutMilliseconds?: number | undefined;
  /** Deletes old generations from this process and its machine. Called hourly. Absent if there is nothing to delete. */
  clean?(): Promise<void>;
}

/**
 * State of the circuit breaker in front of a provider: `closed` sends every call, `open` sends none, `half-open` waits
 * for the answer to one probe. Declared here because adapters do not import each other: one sets the state, another
 * reports it.
 */
export type CircuitState = "closed" | "half-open" | "open";

/** A webhook as received over HTTP. `body` has the unmodified bytes, because the signature covers them. */
export type IncomingWebhook = {
  readonly body: Uint8Array;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
};

/** The webhooks of one provider, which it sends when the status of a generation changes. */
export interface ProviderWebhooks {
  /**
   * Verifies a webhook and returns the id of its task. The reported status is ignored, because webhooks may arrive
   * twice, late or out of order: a webhook only triggers a poll. Returns `provider_unavailable` if the provider's keys
   * cannot be fetched now.
   */
  taskOf(webhook: IncomingWebhook): Promise<Result<TaskId, UnverifiedWebhook | ProviderUnavailable>>;
}
