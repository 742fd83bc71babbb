import type { Result } from "neverthrow";
import type { CreationRequest } from "../../domain/creation-request.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { TaskId } from "../../domain/task-id.js";

/** What is asked of the provider; `taskId` is our mark on the upstream task, by which `search` finds it. */
export type GenerationOrder = { readonly taskId: TaskId; readonly request: CreationRequest };

/**
 * `refused`: nothing was started upstream. `unknown`: the call had no clear end (time-out, connection cut after
 * sending, no usable answer): there may be an upstream task that nobody waits for. `reason` is for the log only.
 */
export type SubmissionFailure = { readonly kind: "refused" | "unknown"; readonly reason: string };

export type Progress =
  | { readonly state: "running" }
  | { readonly state: "succeeded"; readonly temporaryUrl: string }
  | { readonly state: "failed"; readonly reason: string };

/** The provider gave no usable answer. It says nothing about the task: look again later. */
export type ProviderUnavailable = { readonly kind: "provider_unavailable"; readonly reason: string };

/** The temporary URL is gone for good. */
export type ResultGone = { readonly kind: "result_gone"; readonly reason: string };

/**
 * `thumbnail` is `unavailable` only where a sandbox plays that the thumbnail cannot be made (`test:no-thumb`).
 */
export type GeneratedImage = { readonly bytes: Uint8Array; readonly thumbnail: "possible" | "unavailable" };

/**
 * Whether it makes sense to send a creation now. `busy`: the provider wants to be left alone for a while, which not every
 * creation has the time to wait for. `down`: it has not answered for a while, and none would be sent. `probing`: it may
 * be back; one creation at a time shows whether it is.
 */
export type Readiness = "ready" | "busy" | "probing" | "down";

/** Somebody's generation model. Every call ends by itself: failures, also time-outs, are values. */
export interface GenerationProvider {
  readonly name: string;
  /** Generations that it runs at once for this service; `undefined` is any number. Tasks above it wait in a queue. */
  readonly concurrencyMax: number | undefined;
  /** Known at once, without asking anybody. */
  readiness(): Readiness;
  /** Milliseconds until the next look at a task submitted so long ago; a little random, so that looks spread. */
  nextPollMilliseconds(upstreamTaskId: string, sinceSubmissionMilliseconds: number): number;
  /** Refuses, at once and without asking anybody, what this provider can never make: nothing is held or sent for it. */
  canMake(request: CreationRequest): Result<void, InvalidRequest>;
  /** Starts one generation, at most once: never sends the call again by itself. Gives the upstream task id. */
  submit(order: GenerationOrder): Promise<Result<string, SubmissionFailure>>;
  poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>>;
  /** The id of the upstream task that carries our mark, if there is one. */
  search(taskId: TaskId): Promise<Result<string | undefined, ProviderUnavailable>>;
  /** The bytes behind the temporary URL of a finished generation, whatever they are, or behind a fresh one. */
  download(
    temporaryUrl: string,
    upstreamTaskId: string,
  ): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>>;
}
