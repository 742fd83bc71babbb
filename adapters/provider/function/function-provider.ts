import { randomBytes } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import {
  type Cancellation,
  type DownloadFailure,
  FAILURE_CAUSES,
  type GeneratedImage,
  type GenerationOrder,
  type GenerationProvider,
  type PlaceWithReadiness,
  type Progress,
  type ProviderUnavailable,
  type Readiness,
  type SubmissionFailure,
} from "../../../application/ports/generation-provider.js";
import type { TaskId } from "../../../domain/ids.js";
import { imageTypeOf } from "../../../domain/images/image-type.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { type Abilities, admitAbilities } from "../../../domain/tasks/abilities.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { shortened } from "../../../domain/text.js";
import { SystemClock } from "../../system/system-clock.js";
import { mebibytes } from "../../wording/numbers.js";
import { shown } from "../../wording/shown.js";
import { PublicFetch } from "../public-fetch.js";
import { unavailable } from "../sound-reference.js";
import {
  checkOptions,
  DEFAULTS,
  type FunctionProviderOptions,
  type Generate,
  GenerationError,
  TEXT_ONLY,
} from "./function-options.js";
import { type End, generationStart, StoredEnds, timeText } from "./stored-ends.js";

/** A provider from a function. */
export interface OpenFunctionProvider extends GenerationProvider {
  /** Deletes ends that are older than 24 hours. The background work calls it. */
  clean(): Promise<void>;
  /** Aborts what runs, which is refunded, and waits until it has ended. Call it after `stop` of the application. */
  close(): Promise<void>;
}

/**
 * Makes a provider from a function that calls an image API. Any process with the same storage can poll a generation;
 * only the process that runs it can cancel it. A restart refunds what was running, although the API may charge it.
 * Throws if an option cannot be right.
 */
export const functionProvider = (options: FunctionProviderOptions): OpenFunctionProvider => {
  checkOptions(options);
  return new FunctionProvider(options);
};

/** An end is kept this long, unless its picture is saved before. */
const KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;
/** Time after the time-out to store an end. Then other processes count the generation as lost. */
const STORING_MILLISECONDS = 60_000;
const STORING_PAUSE_MILLISECONDS = 1_000;
const POLL_MILLISECONDS = 1_000;
const RESULT_LIMITS = { bytesMax: 64 * 1024 * 1024, timeoutMilliseconds: 20_000 };
const REASON_CHARACTERS_MAX = 500;

type Run = { readonly taskId: TaskId; readonly abort: AbortController; readonly ended: Promise<End> };

class FunctionProvider implements OpenFunctionProvider {
  readonly name: string;
  readonly callsPerSecond = undefined;
  readonly discardsSaved = true;
  readonly timeoutMilliseconds: number;
  /** Absent unless an aborted call is not charged. */
  declare readonly cancel?: NonNullable<GenerationProvider["cancel"]>;
  private readonly abilities: Abilities;
  private readonly concurrencyMax: number;
  private readonly ends: StoredEnds;
  private readonly generate: Generate;
  private readonly clock: Clock;
  private readonly publicFetch: PublicFetch;
  /** Of this process, in its upstream ids. */
  private readonly mark = randomBytes(6).toString("base64url");
  /** By upstream id. */
  private readonly running = new Map<string, Run>();
  private isClosed = false;

  constructor({ name, storage, generate, abilities, userAgent, privateOrigins, ...options }: FunctionProviderOptions) {
    this.name = name;
    this.ends = new StoredEnds(storage);
    this.generate = generate;
    this.abilities = { ...TEXT_ONLY, ...abilities };
    this.concurrencyMax = options.concurrencyMax ?? DEFAULTS.concurrencyMax;
    this.timeoutMilliseconds = options.timeoutMilliseconds ?? DEFAULTS.timeoutMilliseconds;
    this.clock = options.clock ?? new SystemClock();
    this.publicFetch = new PublicFetch(privateOrigins, userAgent);
    if (options.stopsOnAbort === true) this.cancel = (id) => this.stop(id);
  }

  places(): readonly PlaceWithReadiness[] {
    const { name, concurrencyMax, abilities } = this;
    const canMake = (request: CreationRequest) => this.checkRequest(request).isOk();
    return [{ name, concurrencyMax, readiness: this.readiness(), canMake, abilities }];
  }

  readiness(): Readiness {
    return this.isClosed ? "busy" : "ready";
  }

  nextPollMilliseconds(): number {
    return POLL_MILLISECONDS;
  }

  checkRequest(request: CreationRequest): Result<void, InvalidRequest> {
    return admitAbilities(this.abilities, request);
  }

  async submit(order: GenerationOrder, submissionDeadline?: Date): Promise<Result<string, SubmissionFailure>> {
    if (this.checkRequest(order.request).isErr()) {
      return err({ kind: "refused", reason: "the request is beyond the capabilities of the function" });
    }
    const now = this.clock.now();
    if (this.isClosed) return err({ kind: "busy", reason: "the provider is closed" });
    if (this.running.size >= this.concurrencyMax) return err({ kind: "busy", reason: "no slot is free" });
    if (submissionDeadline !== undefined && now >= submissionDeadline) {
      return err({ kind: "busy", reason: "the submission deadline has passed" });
    }
    const id = `${timeText(now)}-${this.mark}-${randomBytes(16).toString("base64url")}`;
    const abort = new AbortController();
    this.running.set(id, { taskId: order.taskId, abort, ended: this.run(id, order, abort) });
    return ok(id);
  }

  async poll(id: string): Promise<Result<Progress, ProviderUnavailable>> {
    if (this.running.has(id)) return ok({ state: "running" });
    const startedAt = generationStart(id);
    if (startedAt === undefined) return ok({ state: "failed", reason: "the provider has no such generation" });
    const progress = await this.ends.progressOf(id);
    if (progress.isErr()) return err(progress.error);
    if (progress.value !== undefined) return ok(progress.value);
    const isOver = this.isOwn(id) || this.clock.now().getTime() >= startedAt + this.lostAfterMilliseconds;
    if (!isOver) return ok({ state: "running" });
    const reason = "the process that ran it has ended, or could not store its end";
    return ok({ state: "failed", reason, cause: "provider_unavailable" });
  }

  /** "There is none" would send the order again, which the API may have charged. */
  async search(taskId: TaskId): Promise<Result<string | undefined, ProviderUnavailable>> {
    for (const [id, run] of this.running) if (run.taskId === taskId) return ok(id);
    return err(unavailable("no generation of this task runs in this process; one may run elsewhere"));
  }

  async download(_: string, id: string): Promise<Result<GeneratedImage, DownloadFailure>> {
    return (await this.ends.pictureOf(id)).map((bytes) => ({ bytes, thumbnail: "possible" }));
  }

  discard(id: string): Promise<Result<void, ProviderUnavailable>> {
    return this.ends.delete(id);
  }

  clean(): Promise<void> {
    return this.ends.deleteUntil(this.clock.now().getTime() - KEPT_MILLISECONDS);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const runs = [...this.running.values()];
    for (const { abort } of runs) abort.abort(new Error("the provider was closed"));
    await Promise.all(runs.map(({ ended }) => ended));
    await this.publicFetch.close();
  }

  /** `too_late`, too, if another process runs the generation, or `generate` has not ended by the abort. */
  private async stop(id: string): Promise<Result<Cancellation, ProviderUnavailable>> {
    const run = this.running.get(id);
    if (run === undefined) return ok("too_late");
    run.abort.abort(new Error("it was canceled"));
    const end = await run.ended;
    return ok("stopped" in end ? "canceled" : "too_late");
  }

  private get lostAfterMilliseconds(): number {
    return this.timeoutMilliseconds + STORING_MILLISECONDS;
  }

  private isOwn(id: string): boolean {
    return id.slice(10, 18) === this.mark;
  }

  /** Runs `generate` until its end or the time-out, and stores the end. Never rejects. */
  private async run(id: string, { taskId, request }: GenerationOrder, abort: AbortController): Promise<End> {
    const ended = new AbortController();
    const end = await Promise.race([
      this.generated(request, { signal: abort.signal, taskId }),
      this.clock.sleep(this.timeoutMilliseconds, ended.signal).then((): End => {
        return { reason: `took longer than ${this.timeoutMilliseconds} ms`, cause: "deadline_passed" };
      }),
    ]);
    ended.abort();
    abort.abort(new Error("the generation has ended"));
    await this.store(id, end);
    this.running.delete(id);
    return end;
  }

  private async generated(request: CreationRequest, context: Parameters<Generate>[1]): Promise<End> {
    const { signal } = context;
    let result: unknown;
    try {
      result = await this.generate(request, context);
    } catch (error) {
      if (signal.aborted) return { reason: reasonOf(signal.reason), cause: "provider_unavailable", stopped: true };
      return { reason: reasonOf(error), cause: isKnownCause(error) ? error.cause : "unusable_result" };
    }
    // An abort does not stop the download: the API has made and charged the picture.
    const picture = await this.pictureOf(result);
    return picture.isOk() ? { bytes: picture.value } : { reason: picture.error, cause: "unusable_result" };
  }

  private async pictureOf(result: unknown): Promise<Result<Uint8Array, string>> {
    if (typeof result === "string" || result instanceof URL) {
      const fetched = await this.publicFetch.get(String(result), RESULT_LIMITS);
      if (fetched.isErr()) return err(`the URL that generate returned: ${fetched.error.reason}`);
      return this.pictureOf(fetched.value.bytes);
    }
    if (!(result instanceof Uint8Array)) {
      return err(`generate must return bytes (Uint8Array) or their URL, but the result is ${shown(result)}`);
    }
    const { bytesMax } = RESULT_LIMITS;
    if (result.length > bytesMax) return err(`the picture has more than ${mebibytes(bytesMax)}`);
    return imageTypeOf(result) === undefined ? err("the picture is no JPEG, PNG or WebP") : ok(result);
  }

  /** Repeats until the end is stored, or other processes count the generation as lost. */
  private async store(id: string, end: End): Promise<void> {
    const until = (generationStart(id) ?? 0) + this.lostAfterMilliseconds;
    while (!(await this.ends.store(id, end)) && !this.isClosed && this.clock.now().getTime() < until) {
      await this.clock.sleep(STORING_PAUSE_MILLISECONDS);
    }
  }
}

const isKnownCause = (error: unknown): error is GenerationError =>
  error instanceof GenerationError && FAILURE_CAUSES.includes(error.cause);

/** What was thrown, and why: `fetch` says the reason of "fetch failed" in its cause. */
const wordsOf = (error: unknown): string => {
  if (!(error instanceof Error)) return shown(error);
  const words = error.message || error.name;
  return error.cause instanceof Error ? `${words}: ${wordsOf(error.cause)}` : words;
};

/** A text that every database can store, on one line. */
const reasonOf = (error: unknown): string => {
  const text = wordsOf(error);
  return shortened(text.toWellFormed().replace(/\p{Cc}+/gu, " "), REASON_CHARACTERS_MAX);
};
