import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import type {
  Cancellation,
  GeneratedImage,
  GenerationOrder,
  GenerationProvider,
  PlaceWithReadiness,
  Progress,
  ProviderUnavailable,
  Readiness,
  ResultGone,
  SubmissionFailure,
} from "../../../application/ports/generation-provider.js";
import type { TaskId } from "../../../domain/ids.js";
import { RESOLUTIONS } from "../../../domain/images/resolution.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { sourceTypeIn } from "../../system/source-type-xmp.js";
import { unavailable } from "../sound-reference.js";
import { type Job, JobFolder } from "./job-folder.js";
import { type PainterParts, paintJob } from "./paint-job.js";
import { freshResultName, isResultName, sandboxTriggerOf, triggerIn } from "./result-name.js";

const ID_PREFIX = "local-";
const POLL_MILLISECONDS = 500;
const SLOW_MILLISECONDS = 60_000;
const KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;
/**
 * Further tasks wait in the service's queue, with their own deadline. One account, which has five active tasks, does
 * not take all slots. The paint pool limits the memory that these take.
 */
const CONCURRENCY_MAX = 32;
/** Interval at which a process checks whether another one has removed a job. */
const WATCH_MILLISECONDS = 250;
/** The storage status in which the image of these triggers ends. */
const ENDS = { expired: "expired", "storage-fail": "failed" } as const;

type LocalProviderParts = PainterParts & {
  readonly clock: Clock;
  readonly folder: string;
  /** The origin that serves `temporaryImage`, as `/generations/{name}`. */
  readonly publicUrl: string;
  readonly delayMilliseconds: number;
};
type Painting = { readonly ended: Promise<void>; readonly stop: AbortController };

/**
 * The embedded generation provider: paints a landscape from the words of the prompt and projects the reference images
 * into it. Like a remote provider it has durable state of its own (a folder that processes may share) and returns
 * temporary URLs. If the process is killed while it paints, the next poll starts the painting again.
 */
export class LocalProvider implements GenerationProvider {
  readonly name = "local";
  readonly callsPerSecond = undefined;
  private readonly clock: Clock;
  private readonly parts: PainterParts;
  private readonly folder: JobFolder;
  private readonly temporaryUrlPrefix: string;
  private readonly delayMilliseconds: number;
  private readonly painting = new Map<TaskId, Painting>();
  /** Errors of pictures that could not be stored. The next poll reports each once, and starts the painting again. */
  private readonly storageErrors = new Map<TaskId, string>();

  constructor({ clock, folder, publicUrl, delayMilliseconds, ...parts }: LocalProviderParts) {
    this.clock = clock;
    this.parts = parts;
    this.folder = new JobFolder(folder);
    this.temporaryUrlPrefix = `${publicUrl}/generations/`;
    this.delayMilliseconds = delayMilliseconds;
  }

  places(): readonly PlaceWithReadiness[] {
    return [{ name: this.name, concurrencyMax: CONCURRENCY_MAX, readiness: this.readiness(), canMake: () => true }];
  }

  readiness(): Readiness {
    return "ready";
  }

  nextPollMilliseconds(): number {
    return POLL_MILLISECONDS;
  }

  checkRequest(): Result<void, InvalidRequest> {
    return ok(undefined);
  }

  async submit({ taskId, owner, request }: GenerationOrder): Promise<Result<string, SubmissionFailure>> {
    const trigger = sandboxTriggerOf(request.prompt);
    // From a remote provider an answer without a task id would be `unknown`; here nothing can have been started.
    if (trigger === "reject") return err({ kind: "refused", reason: "the prompt asked for a refusal" });
    if (trigger === "no-id")
      return err({ kind: "refused", reason: "the prompt asked for an answer without a task id" });

    // The places limit submissions; more tasks may have been submitted before a restart.
    if (this.painting.size >= CONCURRENCY_MAX)
      return err({ kind: "busy", reason: "too many panoramas are being painted" });

    const { widthPixels, heightPixels } = RESOLUTIONS[request.resolution];
    const added = await onDisk(async () => {
      await this.folder.add(taskId, {
        owner,
        submittedAt: this.clock.now(),
        prompt: request.prompt,
        seed: request.seed,
        imageUrls: [...request.imageUrls],
        widthPixels,
        heightPixels,
        resultName: freshResultName(trigger),
      });
      return ok(await this.folder.find(taskId));
    });
    if (added.isErr()) return err({ kind: "unknown", reason: added.error.reason });
    if (added.value !== undefined) this.startPainting(taskId, added.value);
    return ok(idOf(taskId));
  }

  poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>> {
    return onDisk(() => this.progress(taskIdOf(upstreamTaskId)));
  }

  private async progress(taskId: TaskId): Promise<Result<Progress, ProviderUnavailable>> {
    const job = await this.folder.find(taskId);
    if (job === undefined) {
      // A generation that is being canceled has not ended before its painting has stopped.
      if (this.painting.has(taskId)) return ok({ state: "running" });
      return ok({ state: "failed", reason: "the generation does not exist" });
    }

    const outcome = await this.folder.outcome(job);
    // The process that was painting it may have been killed.
    if (outcome === undefined) this.startPainting(taskId, job);
    const storageError = this.storageErrors.get(taskId);
    if (storageError !== undefined) {
      this.storageErrors.delete(taskId);
      return err(unavailable(storageError));
    }
    if (outcome === undefined || this.isDelayed(job)) return ok({ state: "running" });
    if (outcome.kind === "failed") {
      const { kind: _, ...failure } = outcome;
      return ok({ state: "failed", ...failure });
    }
    return ok({ state: "succeeded", temporaryUrl: this.temporaryUrlPrefix + job.resultName });
  }

  search(taskId: TaskId): Promise<Result<string | undefined, ProviderUnavailable>> {
    return onDisk(async () => ok((await this.folder.find(taskId)) === undefined ? undefined : idOf(taskId)));
  }

  download(temporaryUrl: string): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>> {
    // Only the last segment: the URL may be stored in another spelling, and the public URL may have changed since.
    const name = temporaryUrl.slice(temporaryUrl.lastIndexOf("/") + 1);
    return onDisk(async () => {
      const bytes = isResultName(name) ? await this.folder.result(name) : undefined;
      if (bytes === undefined) return err({ kind: "result_gone", reason: "the temporary image does not exist" });
      const trigger = triggerIn(name);
      const thumbnail = trigger === "no-thumb" ? "unavailable" : "possible";
      const image: GeneratedImage = { bytes, thumbnail, sourceType: sourceTypeIn(bytes) };
      return ok(trigger === "expired" || trigger === "storage-fail" ? { ...image, ends: ENDS[trigger] } : image);
    });
  }

  /** Stops and removes a job that still runs. One that does not exist was removed before, or never existed. */
  cancel(upstreamTaskId: string): Promise<Result<Cancellation, ProviderUnavailable>> {
    return onDisk(async () => {
      const taskId = taskIdOf(upstreamTaskId);
      const job = await this.folder.find(taskId);
      const hasEnded = job !== undefined && (await this.folder.outcome(job)) !== undefined && !this.isDelayed(job);
      if (hasEnded) return ok("too_late");
      await this.remove(taskId, job);
      return ok("canceled");
    });
  }

  discard(upstreamTaskId: string): Promise<Result<void, ProviderUnavailable>> {
    return onDisk(async () => {
      const taskId = taskIdOf(upstreamTaskId);
      return ok(await this.remove(taskId, await this.folder.find(taskId)));
    });
  }

  /**
   * The bytes behind `/generations/{name}`; `undefined` for an unknown or expired image. With `test:expired` the image
   * can be downloaded for its check, and its URL is gone afterwards.
   */
  async temporaryImage(name: string): Promise<Uint8Array | undefined> {
    return isResultName(name) && triggerIn(name) !== "expired" ? this.folder.result(name) : undefined;
  }

  /** Removes jobs and temporary images that are older than 24 hours. Call it regularly. */
  async clean(): Promise<void> {
    await this.folder.removeOlderThan(new Date(this.clock.now().getTime() - KEPT_MILLISECONDS));
  }

  /** Resolves when no painting is in progress. */
  async idle(): Promise<void> {
    await Promise.all([...this.painting.values()].map(({ ended }) => ended));
  }

  /** Removes the job first, so that no process starts it again, even if this one is killed before it stops painting. */
  private async remove(taskId: TaskId, job: Job | undefined): Promise<void> {
    await this.folder.remove(taskId);
    const painting = this.painting.get(taskId);
    if (painting === undefined) return;
    painting.stop.abort();
    await painting.ended;
    if (job !== undefined) await this.folder.removeOutcome(job); // it may just have been stored
  }

  /** Does nothing while this process paints the job. Another process that paints it too gets the same picture. */
  private startPainting(taskId: TaskId, job: Job): void {
    if (this.painting.has(taskId) || this.painting.size >= CONCURRENCY_MAX) return;
    const stop = new AbortController();
    const watch = setInterval(async () => {
      const isThere = await this.folder.has(taskId).catch(() => true);
      if (!isThere) stop.abort();
    }, WATCH_MILLISECONDS).unref();
    const ended = paintJob(this.parts, taskId, job, stop.signal)
      .then(async (result) => {
        // A job that was canceled meanwhile has no use for its picture.
        if (result !== undefined && (await this.folder.has(taskId))) await this.folder.finish(job, result);
      })
      .catch((error: unknown) => void this.storageErrors.set(taskId, String(error)))
      .finally(() => {
        clearInterval(watch);
        this.painting.delete(taskId);
      });
    this.painting.set(taskId, { ended, stop });
  }

  /** True while the delay of the job lasts. False if the clock was set back. */
  private isDelayed(job: Job): boolean {
    const elapsedMilliseconds = this.clock.now().getTime() - job.submittedAt.getTime();
    return elapsedMilliseconds >= 0 && elapsedMilliseconds < this.durationMilliseconds(job);
  }

  private durationMilliseconds(job: Job): number {
    return sandboxTriggerOf(job.prompt) === "slow" ? SLOW_MILLISECONDS : this.delayMilliseconds;
  }
}

/** Returns a disk error as unavailable: the task is polled again, and fails with a refund at its deadline. */
const onDisk = async <T, E>(work: () => Promise<Result<T, E>>): Promise<Result<T, E | ProviderUnavailable>> => {
  try {
    return await work();
  } catch (error) {
    return err(unavailable(String(error)));
  }
};

const idOf = (taskId: TaskId): string => ID_PREFIX + taskId;
const taskIdOf = (upstreamTaskId: string): TaskId => upstreamTaskId.slice(ID_PREFIX.length) as TaskId;
