import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import type { Clock } from "../../application/ports/clock.js";
import { type ImageType, SIGNATURE_BYTES } from "../../domain/images/image-type.js";
import {
  admitSizes,
  admitType,
  requireFiles,
  UPLOAD_LIMITS,
  type UploadLimits,
} from "../../domain/images/upload-rules.js";
import type { BrokenRule, InvalidRequest } from "../../domain/invalid-request.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import type { TaskFilter } from "../../domain/tasks/task-filter.js";
import { SystemClock } from "../system/system-clock.js";
import {
  type CreatedTask,
  type CreditTotals,
  createdTaskSchema,
  creditTotalsSchema,
  type PanoramaTask,
  panoramaTaskSchema,
  type TaskPage,
  taskPageSchema,
  type UploadedImages,
  uploadedSchema,
  webhookEventSchema,
} from "./answers.js";
import { callWithRetries } from "./call-with-retries.js";
import { type ClientError, invalidRequestError } from "./client-error.js";
import { type Offer, offerSchema } from "./offer.js";
import { readEventStream } from "./read-event-stream.js";
import { type ApiRequest, sendRequest } from "./send-request.js";
import type { ServiceUrl } from "./service-url.js";
import { type ToldAbilities, toldAbilitiesSchema } from "./told-abilities.js";

/** `type` is the declared type. It must match the signature in the first bytes, if it is given. */
export type ReferenceImage = { readonly bytes: Uint8Array; readonly name?: string; readonly type?: string };

/** The task as it is now, while a wait goes on. */
export type Progress = { readonly task: PanoramaTask; readonly elapsedSeconds: number };

type Settings = {
  readonly baseUrl: ServiceUrl;
  readonly apiKey: string;
  /** For one call, with all its attempts and the pauses between them. Default: 40. */
  readonly timeoutSeconds?: number;
};

/**
 * Shorter than the 30 s that the service may take to reach its provider: a retry with the same idempotency key is
 * answered although the first attempt still runs.
 */
const ATTEMPT_TIMEOUT_SECONDS = 12;
const TIMEOUT_SECONDS = 40;

/** `Prefer: wait` of one read: short enough to report progress, long enough to stay below 60 reads a minute. */
const WAIT_SLICE_SECONDS = 10;
/** The minimum time between two reads, in case the service does not wait. */
const POLL_MILLISECONDS_MIN = 2_000;
/** The largest page of the list. */
const PAGE_TASKS_MAX = 100;

/** The last read of a wait may take this much longer than the wait. */
const WAIT_GRACE_SECONDS = 8;

/**
 * The REST interface as typed calls, using nothing but `fetch`. Every expected failure is a value (`ClientError`).
 *
 * Every call is retried with back-off after a transient error, because every call can be repeated safely: reads change
 * nothing, uploads of equal bytes are one object, and the `Idempotency-Key` of a creation ensures one charge at most.
 */
export class PanoramaClient {
  private readonly settings: Required<Settings>;
  private readonly clock: Clock;
  private readonly random: () => number;

  constructor(settings: Settings, clock: Clock = new SystemClock(), random: () => number = Math.random) {
    this.settings = { timeoutSeconds: TIMEOUT_SECONDS, ...settings };
    this.clock = clock;
    this.random = random;
  }

  /**
   * `POST /panoramas`. After an error with `mayHaveBeenAccepted`, call again within 24 hours with the same request and
   * the same `idempotencyKey`: the panorama is then charged only once. If it costs more than `maxCredits`, nothing is
   * created, and the error is `invalid_request` with the `param` `max_credits`.
   */
  create(
    request: CreationRequest,
    { idempotencyKey = crypto.randomUUID(), maxCredits, signal }: CreateOptions = {},
  ): Promise<Result<CreatedTask, ClientError>> {
    const { resolution, prompt, imageUrls, visibility, seed, metadata, webhookUrl } = request;
    return this.call({
      method: "POST",
      path: "/panoramas",
      headers: { "content-type": "application/json", "idempotency-key": `"${idempotencyKey}"` },
      body: JSON.stringify({
        resolution,
        visibility,
        ...(prompt === undefined ? {} : { prompt }),
        ...(imageUrls.length === 0 ? {} : { image_urls: imageUrls }),
        max_credits: maxCredits,
        ...(seed === undefined ? {} : { seed }),
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
        ...(webhookUrl === undefined ? {} : { webhook_url: webhookUrl }),
      }),
      answer: createdTaskSchema,
      signal,
    });
  }

  /** `GET /panoramas/{id}`; with `waitSeconds` (at most 30) the service answers when the task leaves `processing`. */
  read(
    id: string,
    { waitSeconds = 0, signal }: { readonly waitSeconds?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Result<PanoramaTask, ClientError>> {
    return this.readWithin(this.settings.timeoutSeconds, id, { waitSeconds, signal });
  }

  /**
   * Polls until the task has failed, or has succeeded and its image is no longer `uploading`. Returns the task in its
   * current state after `seconds`, finished or not. While the service is unavailable, reads are retried until
   * `WAIT_GRACE_SECONDS` after that.
   */
  async waitUntilDone(
    id: string,
    { seconds, onProgress, signal }: WaitOptions,
  ): Promise<Result<PanoramaTask, ClientError>> {
    const start = this.milliseconds();
    for (;;) {
      const sentAt = this.milliseconds();
      const leftSeconds = Math.floor(seconds - (sentAt - start) / 1000);
      const waitSeconds = Math.max(0, Math.min(WAIT_SLICE_SECONDS, leftSeconds));
      const timeoutSeconds = Math.max(0, leftSeconds) + WAIT_GRACE_SECONDS;
      const read = await this.readWithin(timeoutSeconds, id, { waitSeconds, signal, isKnown: true });
      if (read.isErr() || isDone(read.value)) return read;

      const now = this.milliseconds();
      onProgress?.({ task: read.value, elapsedSeconds: (now - start) / 1000 });
      const pause = Math.max(0, sentAt + POLL_MILLISECONDS_MIN * (1 + this.random() / 4) - now);
      if (now + pause >= start + seconds * 1000) return read;
      await this.clock.sleep(pause, signal);
    }
  }

  /**
   * `POST /panoramas/{id}/cancel`: the task as it is afterwards. It is `failed` and refunded if it was canceled;
   * otherwise it goes on, or had ended already.
   */
  cancel(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Result<PanoramaTask, ClientError>> {
    const path = `/panoramas/${encodeURIComponent(id)}/cancel`;
    return this.call({ method: "POST", path, headers: {}, answer: panoramaTaskSchema, signal });
  }

  /** `DELETE /panoramas/{id}`: also succeeds if the panorama is deleted already. */
  delete(id: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Result<void, ClientError>> {
    const path = `/panoramas/${encodeURIComponent(id)}`;
    return this.call({ method: "DELETE", path, headers: {}, answer: z.undefined(), signal });
  }

  /**
   * Like `waitUntilDone`, but learns of the end from the task's stream of events, without polling. Polls if the service
   * has no stream for it (an older version, or too many of the account), and when the stream ends early.
   */
  async waitFor(id: string, { seconds, onProgress, signal }: WaitOptions): Promise<Result<PanoramaTask, ClientError>> {
    const start = this.milliseconds();
    const elapsedSeconds = () => (this.milliseconds() - start) / 1000;
    for await (const task of this.streamTask(id, seconds, signal)) {
      if (isDone(task)) return ok(task);
      onProgress?.({ task, elapsedSeconds: elapsedSeconds() });
    }
    return this.waitUntilDone(id, {
      seconds: Math.max(0, seconds - elapsedSeconds()),
      ...(signal && { signal }),
      ...(onProgress && {
        onProgress: ({ task }: Progress) => onProgress({ task, elapsedSeconds: elapsedSeconds() }),
      }),
    });
  }

  /**
   * `POST /images`: the public URLs, in the order of the images, and until when they are kept unused. Images that break
   * a limit of the service are not sent. `limits`: those of `offer`; without them, they are read if the images break
   * the usual ones.
   */
  async upload(
    images: readonly ReferenceImage[],
    { limits, signal }: { readonly limits?: Offer["uploads"]; readonly signal?: AbortSignal } = {},
  ): Promise<Result<UploadedImages, ClientError>> {
    let types = admitImages(images, limits === undefined ? UPLOAD_LIMITS : limitsOf(limits));
    if (types.isErr() && limits === undefined && SIZE_RULES.includes(types.error.rule.name)) {
      const offer = await this.offer({ ...(signal && { signal }) });
      if (offer.isOk() && offer.value !== undefined) types = admitImages(images, limitsOf(offer.value.uploads));
    }
    if (types.isErr()) return err(invalidRequestError(types.error));
    const form = new FormData();
    types.value.forEach((type, index) => {
      const { bytes, name } = images[index] as ReferenceImage;
      form.append("files", new Blob([new Uint8Array(bytes)], { type }), name ?? `image-${index + 1}`);
    });
    return this.call(
      { method: "POST", path: "/images", headers: {}, body: form, answer: uploadedSchema, signal },
      // On a slow connection a retry would lose the bytes that are sent already.
      { attemptTimeoutSeconds: this.settings.timeoutSeconds },
    );
  }

  /**
   * Prices and limits of the service, from `GET /openapi.json`. `undefined` for an older service, which uses those of
   * the specification.
   */
  async offer({
    timeoutSeconds = this.settings.timeoutSeconds,
    signal,
  }: {
    readonly timeoutSeconds?: number;
    readonly signal?: AbortSignal;
  } = {}): Promise<Result<Offer | undefined, ClientError>> {
    const described = await this.call(
      { method: "GET", path: "/openapi.json", headers: {}, answer: descriptionSchema, signal },
      { timeoutSeconds },
    );
    return described.map((description) => description["x-panorama"]);
  }

  /** `GET /abilities`: what the service can make now. The error is `not_found` if it is of an older version. */
  abilities({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Result<ToldAbilities, ClientError>> {
    return this.call({ method: "GET", path: "/abilities", headers: {}, answer: toldAbilitiesSchema, signal });
  }

  /** `GET /credits`: the balance of the account. */
  async credits({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Result<number, ClientError>> {
    return (await this.creditTotals({ ...(signal && { signal }) })).map(({ remaining_credits }) => remaining_credits);
  }

  /** `GET /credits`: the balance, what is reserved for tasks in processing, and what is spent on finished ones. */
  creditTotals({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Result<CreditTotals, ClientError>> {
    return this.call({ method: "GET", path: "/credits", headers: {}, answer: creditTotalsSchema, signal });
  }

  /**
   * `GET /panoramas`: the account's tasks that match the filters, newest first. `cursor` is the `next_cursor` of the
   * previous page, which had the same filters.
   */
  list({ limit, cursor, signal, ...filter }: ListOptions = {}): Promise<Result<TaskPage, ClientError>> {
    const { status, visibility, createdAfter, createdBefore, metadata = {} } = filter;
    const query = new URLSearchParams();
    const set = (name: string, value: string | undefined) => value !== undefined && query.set(name, value);
    set("limit", limit?.toString());
    set("cursor", cursor);
    set("status", status);
    set("visibility", visibility);
    set("created_after", createdAfter?.toISOString());
    set("created_before", createdBefore?.toISOString());
    for (const [key, value] of Object.entries(metadata)) query.set(`metadata.${key}`, value);
    const path = query.size === 0 ? "/panoramas" : `/panoramas?${query}`;
    return this.call({ method: "GET", path, headers: {}, answer: taskPageSchema, signal });
  }

  /**
   * The account's tasks, newest first: `list` page by page, each page read when the loop reaches it. An error is the
   * last value. `limit` is the size of a page, by default the maximum.
   */
  async *listAll({
    limit = PAGE_TASKS_MAX,
    ...options
  }: Omit<ListOptions, "cursor"> = {}): AsyncGenerator<Result<PanoramaTask, ClientError>, void> {
    let cursor: string | undefined;
    do {
      const page = await this.list({ ...options, limit, ...(cursor === undefined ? {} : { cursor }) });
      if (page.isErr()) return yield err(page.error);
      for (const task of page.value.data) yield ok(task);
      cursor = page.value.next_cursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** The task as each event of its stream shows it. Ends without an error, whatever fails, and after `seconds`. */
  private async *streamTask(
    id: string,
    seconds: number,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<PanoramaTask, void> {
    const { baseUrl, apiKey } = this.settings;
    const timeout = new AbortController();
    const finished = new AbortController();
    void this.clock.sleep(seconds * 1000, finished.signal).then(() => timeout.abort());
    try {
      const {
        ok: succeeded,
        headers,
        body,
      } = await fetch(`${baseUrl}/panoramas/${encodeURIComponent(id)}/events`, {
        headers: { authorization: `Bearer ${apiKey}`, accept: "text/event-stream" },
        redirect: "manual",
        signal: signal ? AbortSignal.any([timeout.signal, signal]) : timeout.signal,
      });
      const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (!succeeded || !isStream || body === null) return await body?.cancel();
      for await (const { data } of readEventStream(body)) {
        const event = webhookEventSchema.safeParse(JSON.parse(data));
        if (event.success && event.data.type !== "credits.low") yield event.data.data;
      }
    } catch {
      // The caller polls instead, and gets the error of that if there is one.
    } finally {
      finished.abort();
      timeout.abort();
    }
  }

  private readWithin(
    timeoutSeconds: number,
    id: string,
    {
      waitSeconds,
      signal,
      isKnown = false,
    }: { waitSeconds: number; signal: AbortSignal | undefined; isKnown?: boolean },
  ) {
    const headers: Record<string, string> = waitSeconds > 0 ? { prefer: `wait=${waitSeconds}` } : {};
    return this.call(
      { method: "GET", path: `/panoramas/${encodeURIComponent(id)}`, headers, answer: panoramaTaskSchema, signal },
      { attemptTimeoutSeconds: waitSeconds + ATTEMPT_TIMEOUT_SECONDS, timeoutSeconds, isKnown },
    );
  }

  private call<T>(request: ApiRequest<T>, timeouts: Partial<Timeouts> = {}): Promise<Result<T, ClientError>> {
    const {
      attemptTimeoutSeconds = ATTEMPT_TIMEOUT_SECONDS,
      timeoutSeconds = this.settings.timeoutSeconds,
      isKnown = false,
    } = timeouts;
    const service = { ...this.settings, clock: this.clock };
    return callWithRetries(
      (timeoutMilliseconds) => sendRequest(service, request, timeoutMilliseconds),
      { attemptTimeoutSeconds, timeoutSeconds, signal: request.signal, isKnown },
      this.clock,
      this.random,
    );
  }

  private milliseconds(): number {
    return this.clock.now().getTime();
  }
}

type CreateOptions = {
  readonly idempotencyKey?: string;
  readonly maxCredits?: number | undefined;
  readonly signal?: AbortSignal;
};

type WaitOptions = {
  readonly seconds: number;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
};

type ListOptions = TaskFilter & { readonly limit?: number; readonly cursor?: string; readonly signal?: AbortSignal };

type Timeouts = {
  readonly attemptTimeoutSeconds: number;
  readonly timeoutSeconds: number;
  /** The caller knows that the service has the task. */
  readonly isKnown: boolean;
};

const SIZE_RULES: readonly BrokenRule["name"][] = ["files_max", "bytes_max", "total_bytes_max"];

const descriptionSchema = z.object({ "x-panorama": offerSchema.optional() });

const limitsOf = ({ files, file_bytes, total_bytes, request_bytes }: Offer["uploads"]): UploadLimits => ({
  filesMax: files,
  fileBytesMax: file_bytes,
  totalBytesMax: total_bytes,
  requestBytesMax: request_bytes,
});

const isDone = (task: PanoramaTask): boolean =>
  task.status === "failed" ||
  (task.status === "succeeded" && task.output !== undefined && task.output.storage_status !== "uploading");

const admitImages = (
  images: readonly ReferenceImage[],
  limits: UploadLimits,
): Result<readonly ImageType[], InvalidRequest> =>
  requireFiles(images.length, limits)
    .andThen(() =>
      admitSizes(
        images.map(({ bytes }) => bytes.length),
        limits,
      ),
    )
    .andThen(() => {
      const types: ImageType[] = [];
      for (const [index, { bytes, type }] of images.entries()) {
        const admitted = admitType(index, bytes.subarray(0, SIGNATURE_BYTES), type);
        if (admitted.isErr()) return err(admitted.error);
        types.push(admitted.value);
      }
      return ok(types);
    });
