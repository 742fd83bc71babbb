import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { err, ok, type Result } from "neverthrow";
import type { z } from "zod";
import type { Clock } from "../../application/ports/clock.js";
import type { CreationRequest } from "../../domain/creation-request.js";
import { type ImageType, SIGNATURE_BYTES } from "../../domain/image-type.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { admitSizes, admitType, requireFiles } from "../../domain/upload-rules.js";
import {
  balanceSchema,
  type CreatedTask,
  createdTaskSchema,
  errorBodySchema,
  type PanoramaTask,
  panoramaTaskSchema,
  type TaskPage,
  taskPageSchema,
  uploadedSchema,
} from "./answers.js";
import { type ClientError, type ClientErrorCode, refusedUnsent, SERVICE_ERROR_CODES } from "./client-error.js";
import { retryDelayMilliseconds } from "./retry-delay.js";
import type { ServiceAddress } from "./service-address.js";

/** `type` as declared by whoever gave the file; what counts is its signature. */
export type ReferenceImage = { readonly bytes: Uint8Array; readonly name?: string; readonly type?: string };

export type Progress = { readonly task: PanoramaTask; readonly elapsedSeconds: number };

type Settings = {
  readonly baseUrl: ServiceAddress;
  readonly apiKey: string;
  /** A call gives up after so long, with all its attempts and the waiting between them. */
  readonly patienceSeconds?: number;
};

/** The server may take 30 s for its own call upstream; a repeat with the same key is answered while that still runs. */
const ATTEMPT_SECONDS = 12;
const PATIENCE_SECONDS = 40;
/** With the pauses between them at most 16 s, when every attempt fails at once. */
const ATTEMPTS_MAX = 6;

/** One read waits this long at the service: short enough to report progress, long enough to stay below 60 reads/min. */
const WAIT_SLICE_SECONDS = 10;
/** A service that does not wait is not asked more often than this. */
const POLL_MILLISECONDS = 2_000;
/** The last read of a wait may take this long. */
const WAIT_GRACE_SECONDS = 8;

/**
 * The REST interface as typed calls, on `fetch` alone. Every expected failure is a value (`ClientError`).
 *
 * What can be repeated safely is repeated, with back-off, until the call's patience or attempts are used up: reads, uploads
 * (equal bytes are one object), and creations, because each carries an `Idempotency-Key` and so is charged at most once.
 */
export class PanoramaClient {
  private readonly settings: Required<Settings>;
  private readonly clock: Clock;
  private readonly random: () => number;

  constructor(settings: Settings, clock: Clock = machineTime, random: () => number = Math.random) {
    this.settings = { patienceSeconds: PATIENCE_SECONDS, ...settings };
    this.clock = clock;
    this.random = random;
  }

  /**
   * `POST /panoramas`. After an error with `mayHaveBeenAccepted`, calling again with the same request and the same
   * `idempotencyKey` cannot charge twice for 24 hours.
   */
  create(
    request: CreationRequest,
    { idempotencyKey = randomUUID(), signal }: { readonly idempotencyKey?: string; readonly signal?: AbortSignal } = {},
  ): Promise<Result<CreatedTask, ClientError>> {
    const { resolution, prompt, imageUrls, visibility } = request;
    return this.call({
      method: "POST",
      path: "/panoramas",
      headers: { "content-type": "application/json", "idempotency-key": `"${idempotencyKey}"` },
      body: JSON.stringify({
        resolution,
        visibility,
        ...(prompt === undefined ? {} : { prompt }),
        ...(imageUrls.length === 0 ? {} : { image_urls: imageUrls }),
      }),
      answer: createdTaskSchema,
      signal,
    });
  }

  /** `GET /panoramas/{id}`; with `waitSeconds` (at most 30) the service answers once the task leaves `processing`. */
  read(
    id: string,
    { waitSeconds = 0, signal }: { readonly waitSeconds?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Result<PanoramaTask, ClientError>> {
    return this.readFor(this.settings.patienceSeconds, id, waitSeconds, signal);
  }

  /**
   * Reads until the task has failed, or has succeeded and its image is no longer on the way into permanent storage.
   * After `seconds` it gives the task as it is then, finished or not; a service that is out of reach meanwhile is
   * asked again until then, and `WAIT_GRACE_SECONDS` longer.
   */
  async waitUntilDone(
    id: string,
    { seconds, onProgress, signal }: WaitOptions,
  ): Promise<Result<PanoramaTask, ClientError>> {
    const start = this.milliseconds();
    for (;;) {
      const asked = this.milliseconds();
      const leftSeconds = Math.floor(seconds - (asked - start) / 1000);
      const waitSeconds = Math.max(0, Math.min(WAIT_SLICE_SECONDS, leftSeconds));
      const patienceSeconds = Math.max(0, leftSeconds) + WAIT_GRACE_SECONDS;
      const read = await this.readFor(patienceSeconds, id, waitSeconds, signal);
      if (read.isErr() || isDone(read.value)) return read;

      const now = this.milliseconds();
      onProgress?.({ task: read.value, elapsedSeconds: (now - start) / 1000 });
      const pause = Math.max(0, asked + POLL_MILLISECONDS * (1 + this.random() / 4) - now);
      if (now + pause >= start + seconds * 1000) return read;
      await this.clock.sleep(pause, signal);
    }
  }

  /** `POST /images`: the public URLs, in the order of the images. What breaks a limit is refused before it is sent. */
  async upload(
    images: readonly ReferenceImage[],
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<Result<readonly string[], ClientError>> {
    const types = admitImages(images);
    if (types.isErr()) return err(refusedUnsent(types.error));
    const form = new FormData();
    types.value.forEach((type, index) => {
      const { bytes, name } = images[index] as ReferenceImage;
      form.append("files", new Blob([new Uint8Array(bytes)], { type }), name ?? `image-${index + 1}`);
    });
    const uploaded = await this.call({
      method: "POST",
      path: "/images",
      headers: {},
      body: form,
      answer: uploadedSchema,
      // A slow line needs all the time there is: starting again would only lose what is sent already.
      attemptSeconds: this.settings.patienceSeconds,
      signal,
    });
    return uploaded.map(({ image_urls }) => image_urls);
  }

  /** `GET /credits`: what is left on the account. */
  async credits({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Result<number, ClientError>> {
    const balance = await this.call({ method: "GET", path: "/credits", headers: {}, answer: balanceSchema, signal });
    return balance.map(({ remaining_credits }) => remaining_credits);
  }

  /** `GET /panoramas`: the account's tasks, newest first; `cursor` is the page before's `next_cursor`. */
  list({ limit, cursor, signal }: ListOptions = {}): Promise<Result<TaskPage, ClientError>> {
    const query = new URLSearchParams();
    if (limit !== undefined) query.set("limit", String(limit));
    if (cursor !== undefined) query.set("cursor", cursor);
    const path = query.size === 0 ? "/panoramas" : `/panoramas?${query}`;
    return this.call({ method: "GET", path, headers: {}, answer: taskPageSchema, signal });
  }

  private readFor(patienceSeconds: number, id: string, waitSeconds: number, signal: AbortSignal | undefined) {
    return this.call({
      method: "GET",
      path: `/panoramas/${encodeURIComponent(id)}`,
      headers: waitSeconds > 0 ? { prefer: `wait=${waitSeconds}` } : {},
      answer: panoramaTaskSchema,
      attemptSeconds: waitSeconds + ATTEMPT_SECONDS,
      patienceSeconds,
      signal,
    });
  }

  private async call<T>(request: ApiRequest<T>): Promise<Result<T, ClientError>> {
    if (!/^[\x21-\x7e]+$/.test(this.settings.apiKey)) return err(unusableKey);
    const { attemptSeconds = ATTEMPT_SECONDS, patienceSeconds = this.settings.patienceSeconds, signal } = request;
    const deadline = this.milliseconds() + patienceSeconds * 1000;
    let mayHaveBeenAccepted = false;
    for (let attempt = 1; ; attempt++) {
      const left = deadline - this.milliseconds();
      const answered = await this.send(request, Math.min(attemptSeconds * 1000, left));
      if (answered.isOk()) return answered;

      // A later refusal does not take back that an earlier attempt may have got through.
      mayHaveBeenAccepted ||= answered.error.mayHaveBeenAccepted;
      const error = { ...answered.error, mayHaveBeenAccepted };
      const pause = retryDelayMilliseconds(error, attempt, this.random());
      if (pause === undefined || attempt === ATTEMPTS_MAX || this.milliseconds() + pause >= deadline) return err(error);
      await this.clock.sleep(pause, signal);
      if (signal?.aborted) return err({ ...error, code: "aborted", message: "The call was aborted." });
    }
  }

  private async send<T>(request: ApiRequest<T>, milliseconds: number): Promise<Result<T, ClientError>> {
    const { method, path, headers, body, answer, signal } = request;
    const tooLate = new AbortController();
    const over = new AbortController();
    void this.clock.sleep(milliseconds, over.signal).then(() => tooLate.abort());
    try {
      const response = await fetch(`${this.settings.baseUrl}${path}`, {
        method,
        headers: { ...headers, authorization: `Bearer ${this.settings.apiKey}`, accept: "application/json" },
        // The key is for this service alone, and a redirected creation would arrive as a read.
        redirect: "manual",
        signal: signal ? AbortSignal.any([tooLate.signal, signal]) : tooLate.signal,
        ...(body === undefined ? {} : { body }),
      });
      return this.understand(method, answer, response, await response.text());
    } catch (error) {
      return err(
        this.unanswered(method, error, { tooLate: tooLate.signal.aborted, aborted: signal?.aborted === true }),
      );
    } finally {
      over.abort();
    }
  }

  private understand<T>(
    method: string,
    answer: z.ZodType<T>,
    { ok: succeeded, status, headers }: Response,
    body: string,
  ): Result<T, ClientError> {
    const value = json(body);
    const parsed = answer.safeParse(value);
    if (succeeded && parsed.success) return ok(parsed.data);

    const refusal = errorBodySchema.safeParse(value);
    const code = SERVICE_ERROR_CODES.find((known) => refusal.success && known === refusal.data.error.code);
    const redirected = status >= 300 && status < 400 ? ` It points to ${headers.get("location")}.` : "";
    const contentType = headers.get("content-type") ?? "no content type";
    return err(
      this.withoutKey({
        code: !succeeded && code !== undefined ? code : "unexpected_answer",
        message:
          !succeeded && code !== undefined && refusal.success
            ? refusal.data.error.message
            : `${this.settings.baseUrl} answered ${status} with ${contentType}, which is not an answer of the panorama service.${redirected}`,
        param: !succeeded && code !== undefined && refusal.success ? refusal.data.error.param : undefined,
        status,
        requestId: headers.get("x-request-id") ?? undefined,
        retryAfterSeconds: this.retryAfterSeconds(headers.get("retry-after")),
        mayHaveBeenAccepted: method === "POST" && (succeeded || (status >= 500 && code !== "upstream_error")),
      }),
    );
  }

  private unanswered(method: string, error: unknown, how: { tooLate: boolean; aborted: boolean }): ClientError {
    const cause = causeOf(error);
    const code: ClientErrorCode = how.aborted ? "aborted" : how.tooLate ? "timeout" : "network_error";
    const messages: Partial<Record<ClientErrorCode, string>> = {
      aborted: "The call was aborted.",
      timeout: `${this.settings.baseUrl} did not answer in time.`,
      network_error: `${this.settings.baseUrl} cannot be reached: ${cause}.`,
    };
    return this.withoutKey({
      code,
      message: messages[code] ?? cause,
      param: undefined,
      status: undefined,
      requestId: undefined,
      retryAfterSeconds: undefined,
      // A connection that was never made has carried nothing.
      mayHaveBeenAccepted: method === "POST" && !/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN)$/.test(cause),
    });
  }

  /** Seconds or a date (RFC 9110, 10.2.3). */
  private retryAfterSeconds(header: string | null): number | undefined {
    if (header === null) return undefined;
    if (/^\d+$/.test(header)) return Number(header);
    const date = Date.parse(header);
    return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - this.milliseconds()) / 1000));
  }

  private withoutKey(error: ClientError): ClientError {
    return { ...error, message: error.message.replaceAll(this.settings.apiKey, "[api key]") };
  }

  private milliseconds(): number {
    return this.clock.now().getTime();
  }
}

type WaitOptions = {
  readonly seconds: number;
  readonly onProgress?: (progress: Progress) => void;
  readonly signal?: AbortSignal;
};

type ListOptions = { readonly limit?: number; readonly cursor?: string; readonly signal?: AbortSignal };

type ApiRequest<T> = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
  readonly answer: z.ZodType<T>;
  readonly attemptSeconds?: number;
  readonly patienceSeconds?: number;
  readonly signal: AbortSignal | undefined;
};

const machineTime: Clock = {
  now: () => new Date(),
  sleep: (milliseconds, signal) =>
    delay(milliseconds, undefined, signal && { signal }).catch(() => {
      // Aborted: the wait is over, as asked.
    }),
};

const isDone = (task: PanoramaTask): boolean =>
  task.status === "failed" || (task.status === "succeeded" && isKept(task.output?.storage_status));

const isKept = (storageStatus: string | undefined): boolean =>
  storageStatus !== undefined && storageStatus !== "uploading";

const admitImages = (images: readonly ReferenceImage[]): Result<readonly ImageType[], InvalidRequest> =>
  requireFiles(images.length)
    .andThen(() => admitSizes(images.map(({ bytes }) => bytes.length)))
    .andThen(() => {
      const types: ImageType[] = [];
      for (const [index, { bytes, type }] of images.entries()) {
        const admitted = admitType(index, bytes.subarray(0, SIGNATURE_BYTES), type);
        if (admitted.isErr()) return err(admitted.error);
        types.push(admitted.value);
      }
      return ok(types);
    });

const unusableKey: ClientError = {
  code: "invalid_api_key",
  message: "The API key is missing, or has characters that no key has.",
  param: undefined,
  status: undefined,
  requestId: undefined,
  retryAfterSeconds: undefined,
  mayHaveBeenAccepted: false,
};

const json = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** `fetch` says "fetch failed"; what happened is in the cause. */
const causeOf = (error: unknown): string => {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? String(error);
};
