import type { Result } from "neverthrow";
import type { TaskId } from "../../domain/ids.js";
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
   * How many submissions of the task have ended before, each without starting a generation. A provider that refuses a
   * repeated creation tells one submission from the next by it. 0 if it is absent.
   */
  readonly submission?: number | undefined;
  /**
   * Whose task it is: an opaque text. A provider that runs on this machine shares its processors among owners. Without
   * it, each order counts as one of a different owner. It is not sent to other providers.
   */
  readonly owner?: string | undefined;
  readonly request: CreationRequest;
  /** The name of the place whose slot the task holds. That place is asked first. */
  readonly place?: string | undefined;
  /**
   * Moves the task to a slot of another place. Must be awaited before the order is sent there. `false`: the place has
   * no free slot, so the order must not be sent there. Without it the places of the order are not counted.
   */
  readonly changePlace?: ((place: ProviderPlace) => Promise<boolean>) | undefined;
  /** Sent with the order. */
  readonly traceparent?: string | undefined;
};

/**
 * `refused`: the provider started nothing. `busy`: the provider certainly started nothing, because it has no room now;
 * it may accept the same order later. `unknown`: the outcome is unknown (timeout, connection lost after sending,
 * unusable response), so an orphaned upstream task may exist. `reason` is for the log only. `cause`: what is known
 * about it. If the customer can change that, no other provider is asked. `retryAfterMilliseconds`: a busy provider asks
 * not to be sent the order again before.
 */
export type SubmissionFailure = ImageFault & {
  readonly kind: "refused" | "busy" | "unknown";
  readonly reason: string;
  readonly cause?: CustomersCause | "provider_unavailable" | undefined;
  readonly retryAfterMilliseconds?: number | undefined;
};

/**
 * What the customer can change about a failure. `content_refused`: the provider's content rules.
 * `reference_unreachable`: the provider, or this service for it, could not read a reference image from its URL.
 * `reference_unusable`: the provider could not use a reference image.
 */
export const CUSTOMERS_CAUSES = ["content_refused", "reference_unreachable", "reference_unusable"] as const;
/** One of `CUSTOMERS_CAUSES`. */
export type CustomersCause = (typeof CUSTOMERS_CAUSES)[number];

/**
 * What is known about a failed generation. `never_started`: it waited too long at the provider. `deadline_passed`: it
 * took too long there. `provider_unavailable`: a part of the provider does not work now. `unusable_result`: it has
 * ended without a picture.
 */
export type FailureCause =
  | CustomersCause
  | "never_started"
  | "deadline_passed"
  | "provider_unavailable"
  | "unusable_result";

/**
 * What the provider says about a generation. `reason` is for the log only. `cause`: what is known about a failure.
 */
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

/** Only `provider_unavailable` is worth another attempt. */
export type DownloadFailure = ResultGone | ResultUnusable | ProviderUnavailable;

/**
 * How a picture was made: by a trained model, by one from photos of the customer, or by rules alone. The names are
 * those of the IPTC.
 */
export type DigitalSourceType = "trainedAlgorithmicMedia" | "compositeWithTrainedAlgorithmicMedia" | "algorithmicMedia";

/**
 * How the picture of a request was made. With reference images it counts as a composite: parts of a photo may be
 * visible in it, which nobody can tell from the picture.
 */
export const sourceTypeOf = (
  { sourceType = "trainedAlgorithmicMedia" }: Pick<GeneratedImage, "sourceType">,
  { imageUrls }: Pick<CreationRequest, "imageUrls">,
): DigitalSourceType =>
  sourceType === "trainedAlgorithmicMedia" && imageUrls.length > 0
    ? "compositeWithTrainedAlgorithmicMedia"
    : sourceType;

/**
 * `sourceType` is written into the image; absent: a trained model has made it. `thumbnail` is `unavailable` only for
 * the test trigger `test:no-thumb`: then no thumbnail must be made. `ends` is set only for `test:expired` and
 * `test:storage-fail`: then the image must not be stored but end in this storage status.
 */
export type GeneratedImage = {
  readonly bytes: Uint8Array;
  readonly sourceType?: DigitalSourceType;
  readonly thumbnail: "possible" | "unavailable";
  readonly ends?: "expired" | "failed";
};

/**
 * Whether a creation should be sent now. `busy`: not yet, because the provider asked for a pause, or other creations
 * wait for the rate limiter. `down`: the circuit breaker is open, so nothing is sent. `probing`: the circuit breaker is
 * half open, so one creation at a time is sent to test the provider.
 */
export type Readiness = "ready" | "busy" | "probing" | "down";

/** `canceled`: the work has stopped, without a charge. */
export type Cancellation = "canceled" | "too_late";

/**
 * A place and whether it should get creations now. `abilities`: what clients are told of it; absent if it can make
 * whatever the specification allows.
 */
export type PlaceNow = ProviderPlace & { readonly readiness: Readiness; readonly abilities?: Abilities | undefined };

/** Whether a creation should be sent to this place now. */
export const takesCreations = ({ readiness }: PlaceNow): boolean => readiness === "ready" || readiness === "probing";

/** A generation model. Every call has a timeout. Failures, including timeouts, are returned, not thrown. */
export interface GenerationProvider {
  /** Of a provider with several models also the model, such as `fal:seedream-4.5`. */
  readonly name: string;
  /**
   * Providers of one account know each other's upstream task ids, so a task goes on when the model was changed. By
   * default the name.
   */
  readonly account?: string | undefined;
  /**
   * Where it runs generations, in the order in which the places get creations: one place with the name of the provider,
   * or several if it consists of several servers or providers. Tasks without a free slot wait in the queue. Makes no
   * call.
   */
  places(): readonly PlaceNow[];
  /** Maximum number of calls that this instance makes per second; `undefined` means no limit. */
  readonly callsPerSecond: number | undefined;
  /** The best one of all places. Makes no call to the provider. */
  readiness(): Readiness;
  /** Delay until the next poll of a task, given its age since submission. Random jitter spreads the polls. */
  nextPollMilliseconds(upstreamTaskId: string, sinceSubmissionMilliseconds: number): number;
  /** Rejects requests that this provider can never fulfil. Makes no call; runs before credits are reserved. */
  canMake(request: CreationRequest): Result<void, InvalidRequest>;
  /**
   * Starts one generation and returns the upstream task id. Never retries, so that nothing starts twice.
   *
   * From `submissionDeadline` on, another instance may search for the upstream task and, if there is none, send the
   * order again. So a call that could still be under way then is not sent (`busy`). Without it nobody else sends it.
   */
  submit(order: GenerationOrder, submissionDeadline?: Date): Promise<Result<string, SubmissionFailure>>;
  poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>>;
  /**
   * Returns the id of the upstream task that is tagged with `taskId` and was submitted after `since`, which limits the
   * search; `undefined` if there is certainly none, because then the task may be sent again.
   */
  search(taskId: TaskId, since: Date): Promise<Result<string | undefined, ProviderUnavailable>>;
  /**
   * Downloads the image of a finished generation from its temporary URL, or from a new URL if the provider issues one.
   * Does not check that the bytes are an image.
   */
  download(temporaryUrl: string, upstreamTaskId: string): Promise<Result<GeneratedImage, DownloadFailure>>;
  /**
   * Stops a generation that costs nothing yet. `canceled` means that the work has stopped: from then on the generation
   * uses no processor, no memory and no slot, has no image and is not charged. So it must not be answered while
   * anything of it is still queued or running. `too_late` if it goes on, or has ended otherwise. May be repeated.
   * Absent if no generation of the provider can be canceled.
   */
  cancel?(upstreamTaskId: string): Promise<Result<Cancellation, ProviderUnavailable>>;
  /**
   * Deletes the provider's copy of a finished generation. Succeeds if there is none, or if the provider has no call for
   * it. Absent if no generation of the provider can be deleted.
   */
  discard?(upstreamTaskId: string): Promise<Result<void, ProviderUnavailable>>;
  /**
   * Deletes the remains of old generations in this process and on its machine. Called hourly. Absent if none remain.
   */
  clean?(): Promise<void>;
}

/**
 * The circuit breaker in front of a provider: `closed` sends every call, `open` sends none, `half-open` waits for the
 * answer to one probe. Declared here because adapters do not import each other: one sets the state, another reports it.
 */
export type CircuitState = "closed" | "half-open" | "open";

/** A webhook as received over HTTP. `body` has the unmodified bytes, because the signature covers them. */
export type IncomingWebhook = {
  readonly body: Uint8Array;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
};

/** The webhooks of one provider, which it sends when the status of a generation changes. */
export interface ProviderWebhooks {
  /**
   * Verifies a webhook and returns the task that it is about. The reported status is ignored, because webhooks may
   * arrive twice, late or out of order: a webhook only triggers a poll.
   * Returns `provider_unavailable` if the webhook cannot be verified now because the provider's keys cannot be fetched.
   */
  taskOf(webhook: IncomingWebhook): Promise<Result<TaskId, UnverifiedWebhook | ProviderUnavailable>>;
}
