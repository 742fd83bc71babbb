import { randomBytes } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
import type {
  Cancellation,
  GeneratedImage,
  GenerationOrder,
  GenerationProvider,
  PlaceNow,
  Progress,
  ProviderUnavailable,
  Readiness,
  ResultGone,
  SubmissionFailure,
} from "../../../application/ports/generation-provider.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { RESOLUTIONS } from "../../../domain/resolution.js";
import type { TaskId } from "../../../domain/task-id.js";
import { decoding } from "../../system/load-sharp.js";
import { unavailable } from "../unavailable.js";
import { type Job, JobFolder } from "./job-folder.js";
import type { PaintPool } from "./paint-pool.js";
import { REFERENCE_WIDTH_RADIANS, type Reference } from "./painter/references.js";
import { sceneOf } from "./painter/scene-of.js";
import type { ReferenceImages } from "./reference-images.js";
import { type SandboxTrigger, sandboxTriggerOf } from "./sandbox-trigger.js";

const ID_PREFIX = "local-";
const POLL_MILLISECONDS = 500;
const SLOW_MILLISECONDS = 60_000;
const KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;
const JPEG_QUALITY = 92;
/** A temporary name contains the trigger that takes effect at the download, where only the name is known. */
const RESULT_NAME = /^[\w-]{22,}(?:\.(expired|no-thumb|storage-fail))?\.jpg$/;
/** The storage status in which the image of these triggers ends. */
const ENDS = { expired: "expired", "storage-fail": "failed" } as const;

/**
 * The embedded generation provider: paints a landscape from the words of the prompt and projects the reference images
 * into it. Like a remote provider it has durable state of its own (a folder that processes may share) and returns
 * temporary URLs. If the process is killed while it paints, the next poll starts the painting again.
 */
export class LocalProvider implements GenerationProvider {
  readonly name = "local";
  readonly callsPerSecond = undefined;
  private readonly clock: Clock;
  private readonly references: ReferenceImages;
  private readonly pool: PaintPool;
  private readonly folder: JobFolder;
  private readonly temporaryUrlPrefix: string;
  private readonly delayMilliseconds: number;
  private readonly painting = new Map<TaskId, Promise<void>>();
  /** Why a painting could not be stored: the next poll reports it once, and starts the painting again. */
  private readonly storageErrors = new Map<TaskId, string>();

  /** `publicUrl` is the origin that serves `temporaryImage`, as `/generations/{name}`. */
  constructor(
    clock: Clock,
    references: ReferenceImages,
    pool: PaintPool,
    folder: string,
    publicUrl: string,
    delayMilliseconds: number,
  ) {
    this.clock = clock;
    this.references = references;
    this.pool = pool;
    this.folder = new JobFolder(folder);
    this.temporaryUrlPrefix = `${publicUrl}/generations/`;
    this.delayMilliseconds = delayMilliseconds;
  }

  /** No limit: the paint pool queues what exceeds the number of processors. */
  places(): readonly PlaceNow[] {
    return [{ name: this.name, concurrencyMax: undefined, readiness: this.readiness(), canMake: () => true }];
  }

  readiness(): Readiness {
    return "ready";
  }

  nextPollMilliseconds(): number {
    return POLL_MILLISECONDS;
  }

  canMake(): Result<void, InvalidRequest> {
    return ok(undefined);
  }

  async submit({ taskId, request }: GenerationOrder): Promise<Result<string, SubmissionFailure>> {
    const trigger = sandboxTriggerOf(request.prompt);
    // From a remote provider an answer without a task id would be `unknown`; here nothing can have been started.
    if (trigger === "reject") return err({ kind: "refused", reason: "the prompt asked for a refusal" });
    if (trigger === "no-id")
      return err({ kind: "refused", reason: "the prompt asked for an answer without a task id" });

    const { widthPixels, heightPixels } = RESOLUTIONS[request.resolution];
    const added = await onDisk(async () => {
      await this.folder.add(taskId, {
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
    if (job === undefined) return ok({ state: "failed", reason: "the generation does not exist" });

    const outcome = await this.folder.outcome(job);
    // The process that was painting it may have been killed.
    if (outcome === undefined) this.startPainting(taskId, job);
    const storageError = this.storageErrors.get(taskId);
    if (storageError !== undefined) {
      this.storageErrors.delete(taskId);
      return err(unavailable(storageError));
    }
    if (outcome === undefined || this.isDelayed(job)) return ok({ state: "running" });
    if (outcome.kind === "failed") return ok({ state: "failed", reason: outcome.reason });
    return ok({ state: "succeeded", temporaryUrl: this.temporaryUrlPrefix + job.resultName });
  }

  search(taskId: TaskId): Promise<Result<string | undefined, ProviderUnavailable>> {
    return onDisk(async () => ok((await this.folder.find(taskId)) === undefined ? undefined : idOf(taskId)));
  }

  download(temporaryUrl: string): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>> {
    // Only the last segment: the URL may be stored in another spelling, and the public URL may have changed since.
    const name = temporaryUrl.slice(temporaryUrl.lastIndexOf("/") + 1);
    return onDisk(async () => {
      const bytes = RESULT_NAME.test(name) ? await this.folder.result(name) : undefined;
      if (bytes === undefined) return err({ kind: "result_gone", reason: "the temporary image does not exist" });
      const trigger = triggerIn(name);
      const thumbnail = trigger === "no-thumb" ? "unavailable" : "possible";
      return ok(
        trigger === "expired" || trigger === "storage-fail"
          ? { bytes, thumbnail, ends: ENDS[trigger] }
          : { bytes, thumbnail },
      );
    });
  }

  /** Removes a job that still runs. One that does not exist was removed before, or never existed. */
  cancel(upstreamTaskId: string): Promise<Result<Cancellation, ProviderUnavailable>> {
    return onDisk(async () => {
      const taskId = taskIdOf(upstreamTaskId);
      const job = await this.folder.find(taskId);
      const hasEnded = job !== undefined && (await this.folder.outcome(job)) !== undefined && !this.isDelayed(job);
      if (hasEnded) return ok("too_late");
      await this.folder.remove(taskId);
      return ok("canceled");
    });
  }

  discard(upstreamTaskId: string): Promise<Result<void, ProviderUnavailable>> {
    return onDisk(async () => ok(await this.folder.remove(taskIdOf(upstreamTaskId))));
  }

  /**
   * The bytes behind `/generations/{name}`; `undefined` for an unknown or expired image. With `test:expired` the image
   * can be downloaded for its check, and its URL is gone afterwards.
   */
  async temporaryImage(name: string): Promise<Uint8Array | undefined> {
    return RESULT_NAME.test(name) && triggerIn(name) !== "expired" ? this.folder.result(name) : undefined;
  }

  /** Removes jobs and temporary images that are older than 24 hours. Call it regularly. */
  async clean(): Promise<void> {
    await this.folder.removeOlderThan(new Date(this.clock.now().getTime() - KEPT_MILLISECONDS));
  }

  /** Resolves when no painting is in progress. */
  async idle(): Promise<void> {
    await Promise.all(this.painting.values());
  }

  /** Does nothing while this process paints the job. Another process that paints it too gets the same picture. */
  private startPainting(taskId: TaskId, job: Job): void {
    if (this.painting.has(taskId)) return;
    const painting = this.paint(job)
      .then(async (result) => {
        // A job that was canceled meanwhile has no use for its picture.
        if (result !== undefined && (await this.folder.find(taskId)) !== undefined)
          await this.folder.finish(job, result);
      })
      .catch((error: unknown) => void this.storageErrors.set(taskId, String(error)))
      .finally(() => this.painting.delete(taskId));
    this.painting.set(taskId, painting);
  }

  /** `undefined` if this process is shutting down: the next one paints it. */
  private async paint(job: Job): Promise<Uint8Array | { readonly failed: string } | undefined> {
    const trigger = sandboxTriggerOf(job.prompt);
    if (trigger === "fail") return { failed: "the prompt asked for a failure" };

    const references: Reference[] = [];
    // The resolution of the picture where a reference is shown: more would be invisible and cause aliasing.
    const sidePixels = Math.ceil((1.25 * job.widthPixels * REFERENCE_WIDTH_RADIANS) / (2 * Math.PI));
    for (const url of job.imageUrls) {
      const reference = await this.references.load(url, sidePixels);
      if (reference.isErr()) return { failed: reference.error.reason };
      references.push(reference.value);
    }
    const size = { widthPixels: job.widthPixels, heightPixels: job.heightPixels };
    const painted = await this.pool.paint({ scene: sceneOf(job.prompt, references, job.seed), references, size });
    if (painted.isErr()) return painted.error.kind === "closed" ? undefined : { failed: painted.error.reason };
    return decoding((sharp) =>
      sharp(painted.value, { raw: { width: job.widthPixels, height: job.heightPixels, channels: 3 } })
        .jpeg({ quality: JPEG_QUALITY, chromaSubsampling: "4:4:4" })
        .toBuffer(),
    );
  }

  /** Whether the delay of the job still lasts. If the clock was set back, it is not known to last. */
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

const freshResultName = (trigger: SandboxTrigger | undefined): string => {
  const lasts = trigger === "expired" || trigger === "no-thumb" || trigger === "storage-fail";
  const suffix = lasts ? `.${trigger}` : "";
  return `${randomBytes(16).toString("base64url")}${suffix}.jpg`;
};

const triggerIn = (resultName: string): SandboxTrigger | undefined =>
  RESULT_NAME.exec(resultName)?.[1] as SandboxTrigger | undefined;
