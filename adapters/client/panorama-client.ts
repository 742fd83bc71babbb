import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../application/ports/clock.js";
import { parseIdempotencyKey } from "../../domain/credits/idempotency.js";
import { UPLOAD_LIMITS } from "../../domain/images/upload-rules.js";
import { SystemClock } from "../system/system-clock.js";
import { rulePredicate } from "../wording/rule-predicate.js";
import { type ClientError, invalidRequestError, NO_RESPONSE } from "./client-error.js";
import type { Offer, ToldAbilities } from "./offer.js";
import { type FailedCall, panoramaError, TaskFailedError } from "./panorama-error.js";
import { admitImages, type ImageSource, isSizeRule, limitsOf, type ReferenceImage, readImages } from "./read-images.js";
import { callWithRetries, RETRIES_MAX, retryDelayMilliseconds } from "./requests/call-with-retries.js";
import {
  isAbilities,
  isCreated,
  isDescription,
  isEmpty,
  isEntryPage,
  isPage,
  isTask,
  isTotals,
  isUploaded,
} from "./requests/check-answer.js";
import { type Answer, type ApiRequest, type Call, callOf, type Service, sendRequest } from "./requests/send-request.js";
import { streamEvents } from "./requests/stream-events.js";
import type {
  CreatedTask,
  CreationInput,
  CreditEntry,
  CreditEntryPage,
  CreditTotals,
  FinishedPanorama,
  ListFilter,
  PanoramaEvent,
  PanoramaTask,
  TaskPage,
  UploadedImages,
} from "./resources.js";
import { parseServiceUrl, userAgent } from "./service-url.js";

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
export type { Call, ImageSource, Offer, ReferenceImage, ToldAbilities };

/** Times are in milliseconds. */
export type ClientOptions = {
  /** The origin of the service, or its URL that ends in `/api/v1`. Default: the variable `PANORAMA_BASE_URL`. */
  readonly baseUrl?: string | undefined;
  /** `sk-…`. Default: the variable `PANORAMA_API_KEY`. Without a key every call fails with `invalid_api_key`. */
  readonly apiKey?: string | undefined;
  /** Used instead of the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Maximum number of retries after a transient error. Default: 5. */
  readonly maxRetries?: number | undefined;
  /** Maximum time of a call including retries. Default: 40,000. */
  readonly timeout?: number | undefined;
  /** Maximum time of one attempt. Default: 12,000. Uploads use `timeout`. */
  readonly perAttemptTimeout?: number | undefined;
  /** Logs one line per attempt and pause, for example `console`. Lines never contain key, prompt or image URLs. */
  readonly logger?: Logger | undefined;
  /** Sent with every request. */
  readonly defaultHeaders?: Readonly<Record<string, string>> | undefined;
};

/** A part of `console`. */
export type Logger = { debug(line: string): void; warn(line: string): void };

/** Overrides the client's limits for one call. `signal` aborts it. */
export type CallOptions = Pick<ClientOptions, "timeout" | "maxRetries"> & { readonly signal?: AbortSignal | undefined };

/** `idempotencyKey`: the same creation with the same key within 24 hours is charged once. Default: a new UUID. */
export type CreateOptions = CallOptions & { readonly idempotencyKey?: string | undefined };

/** The state of the task at a read during a wait. */
export type Progress = { readonly task: PanoramaTask; readonly elapsedSeconds: number };

/** `timeout`: in milliseconds. `onProgress` is called after each read, about every ten seconds. */
export type WaitOptions = {
  readonly timeout?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** `limit`: page size, at most 100 (default). `cursor`: the `next_cursor` of the page before. */
export type ListOptions = ListFilter & CallOptions & { readonly limit?: number; readonly cursor?: string | undefined };

/** `limit` and `cursor` as in `ListOptions`. */
export type EntryOptions = CallOptions & Pick<ListOptions, "limit" | "cursor">;

/** `await` gives the first page. `for await` gives all tasks and reads pages on demand. */
export type TaskList = Call<TaskPage> & AsyncIterable<PanoramaTask>;

/** Ledger entries; pages like `TaskList`. */
export type CreditEntryList = Call<CreditEntryPage> & AsyncIterable<CreditEntry>;

/** `task`: only the events of this task. `lastEventId`: begins after this event. */
export type EventOptions = {
  readonly task?: string | undefined;
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Default timeout of an attempt. Shorter than the 30 s that the service may need for a creation: a retry with the same
 * idempotency key is answered while the first attempt still runs.
 */
const ATTEMPT_MILLISECONDS = 12_000;
const CALL_MILLISECONDS = 40_000;
/** Longer than the deadlines of the service for a generation and for saving its image. */
const WAIT_MILLISECONDS = 15 * 60_000;

/** Seconds of `Prefer: wait` per read: short enough to report progress, long enough for 60 reads a minute. */
const WAIT_SLICE_SECONDS = 10;
/** The minimum time between two reads, in case the service does not wait. */
const POLL_MILLISECONDS_MIN = 2_000;
/** The largest page of the list. */
const PAGE_TASKS_MAX = 100;
/** Extra time for the last read of a wait. */
const WAIT_GRACE_MILLISECONDS = 8_000;

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
  readonly #service: Service;
  readonly #limits: { readonly maxRetries: number; readonly timeout: number; readonly perAttemptTimeout: number };
  readonly #logger: Logger | undefined;
  readonly #clock: Clock;
  readonly #random: () => number;

  /** Throws an `InvalidRequestError` if `baseUrl` is missing or invalid. */
  constructor(options: ClientOptions = {}, clock: Clock = new SystemClock(), random: () => number = Math.random) {
    const baseUrl = parseServiceUrl(options.baseUrl ?? variable("PANORAMA_BASE_URL") ?? "").mapErr(({ rule }) =>
      panoramaError({
        ...NO_RESPONSE,
        code: "invalid_request",
        message: `baseUrl or PANORAMA_BASE_URL ${rulePredicate(rule)}`,
        param: "baseUrl",
      }),
    );
    if (baseUrl.isErr()) throw baseUrl.error;
    const agent = userAgent();
    this.baseUrl = baseUrl.value;
    this.#service = {
      baseUrl: baseUrl.value,
      apiKey: (options.apiKey ?? variable("PANORAMA_API_KEY") ?? "").trim(),
      headers: { ...(agent && { "user-agent": agent }), ...options.defaultHeaders },
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      clock,
    };
    this.#limits = {
      maxRetries: options.maxRetries ?? RETRIES_MAX,
      timeout: options.timeout ?? CALL_MILLISECONDS,
      perAttemptTimeout: options.perAttemptTimeout ?? ATTEMPT_MILLISECONDS,
    };
    this.#logger = options.logger;
    this.#clock = clock;
    this.#random = random;
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
    return this.#call(request, others, { idempotencyKey });
  }

  /**
   * Creates a panorama, waits, and returns the task with its picture. Rejects with a `TaskFailedError` if the
   * generation fails. After another error, call again with the error's `idempotencyKey` to wait for the same task.
   */
  async run(input: CreationInput, options: CreateOptions & WaitOptions = {}): Promise<FinishedPanorama> {
    const { timeout = WAIT_MILLISECONDS, onProgress, signal, idempotencyKey = crypto.randomUUID() } = options;
    const { id } = await this.create(input, { idempotencyKey, signal, maxRetries: options.maxRetries });
    const call: FailedCall = { idempotencyKey, taskId: id };
    const waited = await this.#wait(id, { timeout, onProgress, signal });
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
    const perAttemptTimeout = this.#limits.perAttemptTimeout + waitSeconds * 1000;
    return this.#call(readRequest(id, waitSeconds, signal), { ...limits, perAttemptTimeout }, { taskId: id });
  }

  /**
   * Waits until the task has failed, or has succeeded and its image is no longer `uploading`. If this takes longer than
   * `timeout` (default: 15 minutes), returns the unfinished task.
   *
   * Uses the event stream of the task. Polls instead if `onProgress` is given, or if the stream is unavailable or ends
   * early.
   */
  async wait(id: string, options: WaitOptions = {}): Promise<PanoramaTask> {
    const waited = await this.#wait(id, options);
    if (waited.isErr()) throw panoramaError(waited.error, { taskId: id });
    return waited.value;
  }

  /** `POST /panoramas/{id}/cancel`. Returns the task: `failed` if it was canceled, otherwise running or ended. */
  cancel(id: string, options: CallOptions = {}): Call<PanoramaTask> {
    const path = `${pathOf(id)}/cancel`;
    const request = { method: "POST", path, headers: {}, isAnswer: isTask, signal: options.signal } as const;
    return this.#call(request, options, { taskId: id });
  }

  /** `DELETE /panoramas/{id}`: also succeeds if the panorama is deleted already. */
  delete(id: string, options: CallOptions = {}): Call<void> {
    const request = {
      method: "DELETE",
      path: pathOf(id),
      headers: {},
      isAnswer: isEmpty,
      signal: options.signal,
    } as const;
    return this.#call(request, options, { taskId: id });
  }

  /**
   * `GET /panoramas`: the account's tasks that match the filters, newest first. See `TaskList`.
   */
  list(options: ListOptions = {}): TaskList {
    return allPages(options.cursor, (cursor) => this.#page(options, cursor));
  }

  /**
   * `GET /events`: all events from now on, or after `lastEventId`. With `task`, `GET /panoramas/{id}/events`: all
   * events of the task. Reconnects after a lost connection. Ends when `signal` is aborted. Rejects if the first
   * connection fails or access is refused later.
   */
  async *events({ task, lastEventId, signal }: EventOptions = {}): AsyncGenerator<PanoramaEvent, void> {
    let last = lastEventId;
    let wasOpen = false;
    for (let failures = 0; signal?.aborted !== true; ) {
      const opened = await this.#open(task, last, signal, wasOpen);
      if (opened.isErr()) {
        failures += 1;
        const pause = retryDelayMilliseconds(opened.error, failures, this.#random());
        if (opened.error.code === "aborted") return;
        if (!wasOpen || pause === undefined) throw panoramaError(opened.error, { taskId: task });
        await this.#clock.sleep(Math.max(pause, RECONNECT_MILLISECONDS), signal); // `retry-after` may be 0
        continue;
      }
      wasOpen = true;
      if (opened.value === undefined) return;
      failures += 1;
      for await (const event of streamEvents(opened.value, this.#clock, signal)) {
        failures = 0;
        last = event.id;
        yield event;
      }
      await this.#clock.sleep(RECONNECT_MILLISECONDS * 2 ** Math.min(failures, 3) * this.#random(), signal);
    }
  }

  /**
   * `POST /images`. Checks the images against the default limits; if they exceed these, reads the service's limits.
   * Pass the `uploads` of an earlier `offer` as `limits` to check against these without that read.
   */
  upload(
    images: ImageSource | readonly ImageSource[],
    options: CallOptions & { readonly limits?: Offer["uploads"] } = {},
  ): Call<UploadedImages> {
    const { limits, signal, timeout = this.#limits.timeout, maxRetries } = options;
    const answered = async (): Promise<Answer<UploadedImages>> => {
      const sources = Array.isArray(images) ? (images as readonly ImageSource[]) : [images as ImageSource];
      const read = await readImages(sources, signal);
      let types = admitImages(read, limits === undefined ? UPLOAD_LIMITS : limitsOf(limits));
      if (types.isErr() && limits === undefined && isSizeRule(types.error)) {
        const offer = await this.offer({ signal }).catch(() => undefined);
        if (offer !== undefined) types = admitImages(read, limitsOf(offer.uploads));
      }
      if (types.isErr()) throw panoramaError(invalidRequestError(types.error));
      const form = new FormData();
      types.value.forEach((type, index) => {
        const { bytes, name } = read[index] as ReferenceImage;
        form.append("files", new Blob([new Uint8Array(bytes)], { type }), name ?? `image-${index + 1}`);
      });
      const request = {
        method: "POST",
        path: "/images",
        headers: {},
        body: form,
        isAnswer: isUploaded,
        signal,
      } as const;
      // An attempt gets the whole timeout: a retry would start a slow upload again.
      return this.#answer(request, { timeout, maxRetries, perAttemptTimeout: timeout });
    };
    return callOf(answered());
  }

  /** `GET /credits`: balance, reserved and spent credits. */
  credits(options: CallOptions = {}): Call<CreditTotals> {
    return this.#call(get("/credits", isTotals, options), options);
  }

  /** `GET /credits/entries`: ledger entries, newest first. See `CreditEntryList`. */
  entries({ limit = PAGE_TASKS_MAX, cursor, ...options }: EntryOptions = {}): CreditEntryList {
    return allPages(cursor, (next) => {
      const query = new URLSearchParams({ limit: String(limit), ...(next !== undefined && { cursor: next }) });
      return this.#call(get(`/credits/entries?${query}`, isEntryPage, options), options);
    });
  }

  /** `GET /abilities`: the current abilities of the service. */
  abilities(options: CallOptions = {}): Call<ToldAbilities> {
    return this.#call(get("/abilities", isAbilities, options), options);
  }

  /** Prices, limits and abilities of the service, from `GET /openapi.json`. */
  offer(options: CallOptions = {}): Call<Offer> {
    const described = this.#answer<Description>(get("/openapi.json", isDescription, options), options);
    return callOf(described.then(({ value, response }) => ({ value: value["x-panorama"], response })));
  }

  #page({ limit = PAGE_TASKS_MAX, ...options }: ListOptions, cursor: string | undefined): Call<TaskPage> {
    const { status, visibility, created_after, created_before, metadata = {} } = options;
    const query = new URLSearchParams({ limit: String(limit) });
    const set = (name: string, value: string | undefined) => value !== undefined && query.set(name, value);
    set("cursor", cursor);
    set("status", status);
    set("visibility", visibility);
    set("created_after", timeText(created_after));
    set("created_before", timeText(created_before));
    for (const [key, value] of Object.entries(metadata)) query.set(`metadata.${key}`, value);
    return this.#call(get(`/panoramas?${query}`, isPage, options), options);
  }

  async #wait(id: string, options: WaitOptions): Promise<Result<PanoramaTask, ClientError>> {
    const { timeout = WAIT_MILLISECONDS, onProgress, signal } = options;
    const start = this.#milliseconds();
    if (onProgress === undefined) {
      const ended = await this.#readEndFromStream(id, timeout, signal);
      if (ended !== undefined) return ok(ended);
    }
    for (;;) {
      const sentAt = this.#milliseconds();
      const left = Math.max(0, timeout - (sentAt - start));
      const waitSeconds = Math.min(WAIT_SLICE_SECONDS, Math.floor(left / 1000));
      const read = await this.#result<PanoramaTask>(readRequest(id, waitSeconds, signal), {
        timeout: left + WAIT_GRACE_MILLISECONDS,
        perAttemptTimeout: this.#limits.perAttemptTimeout + waitSeconds * 1000,
        taskExists: true,
      });
      if (read.isErr()) return err(read.error);
      const task = read.value.value;
      if (isDone(task)) return ok(task);

      const now = this.#milliseconds();
      onProgress?.({ task, elapsedSeconds: (now - start) / 1000 });
      const pause = Math.max(0, sentAt + POLL_MILLISECONDS_MIN * (1 + this.#random() / 4) - now);
      if (now + pause >= start + timeout) return ok(task);
      await this.#clock.sleep(pause, signal);
    }
  }

  /** The ended task from its event stream. `undefined` if there is no stream, or if it ends early. */
  async #readEndFromStream(id: string, timeout: number, signal?: AbortSignal): Promise<PanoramaTask | undefined> {
    const timeoutReached = new AbortController();
    const done = new AbortController();
    void this.#clock.sleep(timeout, done.signal).then(() => timeoutReached.abort());
    const stop = signal ? AbortSignal.any([timeoutReached.signal, signal]) : timeoutReached.signal;
    try {
      const request = eventsRequest(id, undefined, stop);
      const opened = await sendRequest(this.#service, request, this.#limits.perAttemptTimeout);
      const body = opened.isOk() ? opened.value.response.body : null;
      if (body === null) return undefined;
      for await (const { type, data } of streamEvents(body, this.#clock, stop)) {
        if (type !== "credits.low" && isTask(data) && isDone(data)) return data;
      }
      return undefined;
    } finally {
      done.abort();
    }
  }

  /** Opens the event stream. `undefined` for 204: the task has no further events. */
  async #open(
    task: string | undefined,
    lastEventId: string | undefined,
    signal: AbortSignal | undefined,
    taskExists: boolean,
  ): Promise<Result<ReadableStream<Uint8Array> | undefined, ClientError>> {
    const opened = await this.#result(eventsRequest(task, lastEventId, signal), { taskExists });
    return opened.map(({ response }) => (response.status === 204 ? undefined : (response.body ?? undefined)));
  }

  #call<T>(request: ApiRequest, limits: Limits, call?: FailedCall): Call<T> {
    return callOf(this.#answer<T>(request, limits, call));
  }

  async #answer<T>(request: ApiRequest, limits: Limits, call?: FailedCall): Promise<Answer<T>> {
    const answered = await this.#result<T>(request, limits);
    if (answered.isErr()) throw panoramaError(answered.error, call);
    return answered.value;
  }

  /** Sends the request with retries. The types also contain members that `isAnswer` does not check. */
  #result<T>(request: ApiRequest, limits: Limits): Promise<Result<Answer<T>, ClientError>> {
    const { timeout = this.#limits.timeout, maxRetries = this.#limits.maxRetries } = limits;
    const what = `${request.method} ${request.path.split("?")[0]}`;
    return callWithRetries(
      async (timeoutMilliseconds) => {
        const start = this.#milliseconds();
        const answered = await sendRequest(this.#service, request, timeoutMilliseconds);
        const outcome = answered.match(
          ({ response }) => response.status,
          ({ code }) => code,
        );
        this.#logger?.debug(`panorama-client: ${what}: ${outcome} after ${this.#milliseconds() - start} ms`);
        return answered as Result<Answer<T>, ClientError>;
      },
      {
        attemptTimeoutMilliseconds: limits.perAttemptTimeout ?? this.#limits.perAttemptTimeout,
        timeoutMilliseconds: timeout,
        retriesMax: maxRetries,
        signal: request.signal,
        taskExists: limits.taskExists ?? false,
        onRetry: ({ code }, pause) =>
          this.#logger?.warn(`panorama-client: ${what}: ${code}; again in ${Math.round(pause)} ms`),
      },
      this.#clock,
      this.#random,
    );
  }

  #milliseconds(): number {
    return this.#clock.now().getTime();
  }
}

type Limits = Pick<ClientOptions, "timeout" | "maxRetries" | "perAttemptTimeout"> & {
  /** Uses all retries even if no attempt could connect. Otherwise at most 3 in that case. */
  readonly taskExists?: boolean;
};

type Description = { readonly "x-panorama": Offer };

/**
 * After a failed connection, the minimum pause. After a closed one, the maximum of a random pause, doubled for each
 * connection without events, up to 8 s.
 */
const RECONNECT_MILLISECONDS = 1_000;

/** Reads an environment variable. `undefined` in browsers and without permission (Deno). */
const variable = (name: string): string | undefined => {
  try {
    return (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name];
  } catch {
    return undefined;
  }
};

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

const pathOf = (id: string): string => `/panoramas/${encodeURIComponent(id)}`;

const get = (path: string, isAnswer: (value: unknown) => boolean, { signal }: CallOptions): ApiRequest => ({
  method: "GET",
  path,
  headers: {},
  isAnswer,
  signal,
});

const readRequest = (id: string, waitSeconds: number, signal: AbortSignal | undefined): ApiRequest => ({
  ...get(pathOf(id), isTask, { signal }),
  headers: waitSeconds > 0 ? { prefer: `wait=${waitSeconds}` } : {},
});

const eventsRequest = (
  task: string | undefined,
  lastEventId: string | undefined,
  signal: AbortSignal | undefined,
): ApiRequest => ({
  method: "GET",
  path: `${task === undefined ? "" : pathOf(task)}/events`,
  headers: lastEventId === undefined ? {} : { "last-event-id": lastEventId },
  signal,
});

const timeText = (time: Date | string | undefined): string | undefined =>
  time instanceof Date ? time.toISOString() : time;

const isDone = (task: PanoramaTask): boolean =>
  task.status === "failed" ||
  (task.status === "succeeded" && task.output !== undefined && task.output.storage_status !== "uploading");
