import type { Clock } from "../../application/ports/clock.js";
import { parseIdempotencyKey } from "../../domain/credits/idempotency.js";
import { SystemClock } from "../system/system-clock.js";
import { type ClientError, invalidRequestError, NO_RESPONSE } from "./client-error.js";
import type {
  CallOptions,
  ClientOptions,
  CreateOptions,
  CreditEntryList,
  EntryOptions,
  EventOptions,
  ListOptions,
  TaskList,
  WaitOptions,
} from "./client-options.js";
import type { Offer, ServiceAbilities } from "./offer.js";
import { type FailedCall, panoramaError, TaskFailedError } from "./panorama-error.js";
import type { ImageSource, ReferenceImage } from "./read-images.js";
import { get, panoramaPath, readRequest } from "./requests/api-requests.js";
import {
  isAbilities,
  isCreated,
  isDescription,
  isEmpty,
  isEntryPage,
  isPage,
  isTask,
  isTotals,
} from "./requests/check-answer.js";
import { followEvents } from "./requests/follow-events.js";
import { type ApiRequest, type Call, callOf } from "./requests/send-request.js";
import { ServiceRequests } from "./requests/service-requests.js";
import { WAIT_MILLISECONDS, waitForTask } from "./requests/wait-for-task.js";
import type {
  CanceledTask,
  CreatedTask,
  CreationInput,
  CreditTotals,
  FinishedPanorama,
  PanoramaEvent,
  PanoramaTask,
  UploadedImages,
} from "./resources.js";
import { type UploadOptions, uploadImages } from "./upload-images.js";

export type * from "./client-options.js";
// Programs import everything from this module.
export {
  AbortedError,
  AuthenticationError,
  ConnectionError,
  InsufficientCreditsError,
  InvalidRequestError,
  NotFoundError,
  PanoramaError,
  type PanoramaErrorCode,
  RateLimitError,
  ServiceError,
  TaskFailedError,
} from "./panorama-error.js";
export type * from "./resources.js";
export { signWebhook, verifyWebhook, WebhookError, type WebhookErrorKind, type WebhookHeaders } from "./webhooks.js";
export type { Call, ImageSource, Offer, ReferenceImage, ServiceAbilities };

/** The largest page of the list. */
const PAGE_TASKS_MAX = 100;

/**
 * The REST interface as typed calls, using nothing but `fetch`. A call that fails rejects with a `PanoramaError`.
 *
 * Every call is retried with back-off after a transient error, because every call can be repeated safely: reads change
 * nothing, uploads of equal bytes are one object, and the `Idempotency-Key` of a creation ensures one charge at most.
 */
export class PanoramaClient {
  /** The URL of the REST interface, which ends in `/api/v1`. */
  readonly baseUrl: string;
  // `#` fields are not printed by `console.log`, so the key stays hidden.
  readonly #requests: ServiceRequests;

  /** Throws an `InvalidRequestError` if `baseUrl` is missing or invalid. */
  constructor(options: ClientOptions = {}, clock: Clock = new SystemClock(), random: () => number = Math.random) {
    this.#requests = new ServiceRequests(options, clock, random);
    this.baseUrl = this.#requests.service.baseUrl;
  }

  /**
   * `POST /panoramas`. If the answer is lost, the error has `mayHaveBeenAccepted: true` and the `idempotencyKey`. Call
   * again with this key within 24 hours: the task is charged once.
   */
  create(input: CreationInput, options: CreateOptions = {}): Call<CreatedTask> {
    const { idempotencyKey = crypto.randomUUID(), ...others } = options;
    const key = parseIdempotencyKey(idempotencyKey);
    if (key.isErr()) return rejected(invalidRequestError(key.error), { idempotencyKey });
    const request: ApiRequest = {
      method: "POST",
      path: "/panoramas",
      headers: { "content-type": "application/json", "idempotency-key": `"${key.value}"` },
      body: JSON.stringify(input),
      isAnswer: isCreated,
      signal: options.signal,
    };
    return this.#requests.call(request, others, { idempotencyKey });
  }

  /**
   * Creates a panorama, waits, and returns the task with its picture. Rejects with a `TaskFailedError` if the
   * generation fails. After another error, call again with the error's `idempotencyKey` to wait for the same task.
   */
  async run(input: CreationInput, options: CreateOptions & WaitOptions = {}): Promise<FinishedPanorama> {
    const { timeout = WAIT_MILLISECONDS, onProgress, signal, idempotencyKey = crypto.randomUUID() } = options;
    const { id } = await this.create(input, { idempotencyKey, signal, maxRetries: options.maxRetries });
    const call: FailedCall = { idempotencyKey, taskId: id };
    const waited = await waitForTask(this.#requests, id, { timeout, onProgress, signal });
    if (waited.isErr()) throw panoramaError({ ...waited.error, mayHaveBeenAccepted: true }, call);
    const task = waited.value;
    if (task.status === "failed") throw new TaskFailedError(task, call);
    if (task.status === "succeeded" && task.output !== undefined) return { ...task, output: task.output };
    const message = `The panorama ${id} is not finished after ${timeout / 1000} s. It goes on: wait for it again.`;
    throw panoramaError({ ...NO_RESPONSE, code: "timeout", message, mayHaveBeenAccepted: true }, call);
  }

  /**
   * `GET /panoramas/{id}`. With `waitSeconds` (at most 30), answers as soon as the task is no longer `processing`, or
   * after this time.
   */
  read(id: string, options: CallOptions & { readonly waitSeconds?: number } = {}): Call<PanoramaTask> {
    const { waitSeconds = 0, signal, ...limits } = options;
    const perAttemptTimeout = this.#requests.limits.perAttemptTimeout + waitSeconds * 1000;
    return this.#requests.call(readRequest(id, waitSeconds, signal), { ...limits, perAttemptTimeout }, { taskId: id });
  }

  /**
   * Waits until the task has failed, or has succeeded and its image is no longer `uploading`. If this takes longer than
   * `timeout` (default: 15 minutes), returns the unfinished task.
   *
   * Uses the event stream of the task. Polls instead if `onProgress` is given, or if the stream is unavailable or ends
   * early.
   */
  async wait(id: string, options: WaitOptions = {}): Promise<PanoramaTask> {
    const waited = await waitForTask(this.#requests, id, options);
    if (waited.isErr()) throw panoramaError(waited.error, { taskId: id });
    return waited.value;
  }

  /**
   * `POST /panoramas/{id}/cancel`. Returns the task: `failed` if it was canceled, otherwise running or ended. Without
   * the scope `read` of the key, only its end.
   */
  cancel(id: string, options: CallOptions = {}): Call<PanoramaTask | CanceledTask> {
    const path = `${panoramaPath(id)}/cancel`;
    const request = { method: "POST", path, headers: {}, isAnswer: isTask, signal: options.signal } as const;
    return this.#requests.call(request, options, { taskId: id });
  }

  /** `DELETE /panoramas/{id}`: also succeeds if the panorama is deleted already. */
  delete(id: string, options: CallOptions = {}): Call<void> {
    const request = {
      method: "DELETE",
      path: panoramaPath(id),
      headers: {},
      isAnswer: isEmpty,
      signal: options.signal,
    } as const;
    return this.#requests.call(request, options, { taskId: id });
  }

  /** `GET /panoramas`: the account's tasks that match the filters, newest first. See `TaskList`. */
  list(options: ListOptions = {}): TaskList {
    return allPages(options.cursor, (cursor) => this.#requests.call(listRequest(options, cursor), options));
  }

  /**
   * `GET /events`: all events from now on, or after `lastEventId`. With `task`, `GET /panoramas/{id}/events`: all
   * events of the task. Reconnects after a lost connection. Ends when `signal` is aborted. Rejects if the first
   * connection fails or access is refused later.
   */
  events(options: EventOptions = {}): AsyncGenerator<PanoramaEvent, void> {
    return followEvents(this.#requests, options);
  }

  /**
   * `POST /images`. Checks the images against the default limits; if they exceed these, reads the service's limits.
   * Pass the `uploads` of an earlier `offer` as `limits` to check against these without that read.
   */
  upload(images: ImageSource | readonly ImageSource[], options: UploadOptions = {}): Call<UploadedImages> {
    return callOf(uploadImages(this.#requests, images, options, (signal) => this.offer({ signal })));
  }

  /** `GET /credits`: balance, reserved and spent credits. */
  credits(options: CallOptions = {}): Call<CreditTotals> {
    return this.#requests.call(get("/credits", isTotals, options), options);
  }

  /** `GET /credits/entries`: ledger entries, newest first. See `CreditEntryList`. */
  entries({ limit = PAGE_TASKS_MAX, cursor, ...options }: EntryOptions = {}): CreditEntryList {
    return allPages(cursor, (next) => {
      const query = new URLSearchParams({ limit: String(limit), ...(next !== undefined && { cursor: next }) });
      return this.#requests.call(get(`/credits/entries?${query}`, isEntryPage, options), options);
    });
  }

  /** `GET /abilities`: the current abilities of the service. */
  abilities(options: CallOptions = {}): Call<ServiceAbilities> {
    return this.#requests.call(get("/abilities", isAbilities, options), options);
  }

  /** Prices, limits and abilities of the service, from `GET /openapi.json`. */
  offer(options: CallOptions = {}): Call<Offer> {
    const described = this.#requests.answer<Description>(get("/openapi.json", isDescription, options), options);
    return callOf(described.then(({ value, response }) => ({ value: value["x-panorama"], response })));
  }
}

type Description = { readonly "x-panorama": Offer };

const rejected = (error: ClientError, call: FailedCall): Call<never> =>
  callOf(Promise.reject(panoramaError(error, call)));

type PageOf<Item> = { readonly data: readonly Item[]; readonly next_cursor: string | null };

/** The first page, and all items as an iterator. */
const allPages = <Item, Page extends PageOf<Item>>(
  cursor: string | undefined,
  read: (cursor: string | undefined) => Call<Page>,
): Call<Page> & AsyncIterable<Item> => {
  const first = read(cursor);
  first.catch(() => {}); // no unhandled rejection; the iterator reports the error
  return Object.assign(first, {
    async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
      for (let { data, next_cursor }: PageOf<Item> = await first; ; { data, next_cursor } = await read(next_cursor)) {
        yield* data;
        if (next_cursor === null) return;
      }
    },
  });
};

const listRequest = ({ limit = PAGE_TASKS_MAX, ...options }: ListOptions, cursor: string | undefined): ApiRequest => {
  const { status, visibility, created_after, created_before, metadata = {} } = options;
  const query = new URLSearchParams({ limit: String(limit) });
  const set = (name: string, value: string | undefined) => value !== undefined && query.set(name, value);
  set("cursor", cursor);
  set("status", status);
  set("visibility", visibility);
  set("created_after", timeText(created_after));
  set("created_before", timeText(created_before));
  for (const [key, value] of Object.entries(metadata)) query.set(`metadata.${key}`, value);
  return get(`/panoramas?${query}`, isPage, options);
};

const timeText = (time: Date | string | undefined): string | undefined =>
  time instanceof Date ? time.toISOString() : time;
