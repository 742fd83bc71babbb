import { randomBytes } from "node:crypto";
import { err, ok, type Result } from "neverthrow";
import sharp from "sharp";
import type { Clock } from "../../../application/ports/clock.js";
import type {
  GeneratedImage,
  GenerationOrder,
  GenerationProvider,
  Progress,
  ProviderUnavailable,
  Readiness,
  ResultGone,
  SubmissionFailure,
} from "../../../application/ports/generation-provider.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { RESOLUTIONS } from "../../../domain/resolution.js";
import type { TaskId } from "../../../domain/task-id.js";
import { type Job, JobFolder } from "./job-folder.js";
import type { PaintPool } from "./paint-pool.js";
import { REFERENCE_WIDTH_RADIANS, type Reference } from "./painter/references.js";
import { sceneOf } from "./painter/scene-of.js";
import type { ReferenceImages } from "./reference-images.js";
import { type SandboxTrigger, sandboxTriggerOf } from "./sandbox-trigger.js";

const ID_PREFIX = "local-";
const LOOK_MILLISECONDS = 500;
const SLOW_MILLISECONDS = 60_000;
const KEPT_MILLISECONDS = 24 * 60 * 60 * 1000;
const JPEG_QUALITY = 92;
/** A temporary name carries the trigger that only shows when the image is fetched, for nothing else is known then. */
const RESULT_NAME = /^[\w-]{22,}(?:\.(expired|no-thumb))?\.jpg$/;

/**
 * The embedded generation provider: paints a landscape from the words of the prompt, and projects the reference images
 * into it. Like a provider far away it has its own durable memory (a folder that processes may share) and hands out
 * temporary URLs; what was being painted when the process died is painted again when somebody looks.
 */
export class LocalProvider implements GenerationProvider {
  readonly name = "local";
  /** Any number: what is to be painted waits for a free processor in the pool. */
  readonly concurrencyMax = undefined;
  private readonly clock: Clock;
  private readonly references: ReferenceImages;
  private readonly pool: PaintPool;
  private readonly folder: JobFolder;
  private readonly temporaryUrlPrefix: string;
  private readonly delayMilliseconds: number;
  private readonly painting = new Map<TaskId, Promise<void>>();
  /** What kept a painting from being stored, told once to whoever looks; it is tried again. */
  private readonly troubles = new Map<TaskId, string>();

  /** `publicUrl`: origin under which `temporaryImage` is served, as `/generations/{name}`. */
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

  readiness(): Readiness {
    return "ready";
  }

  nextPollMilliseconds(): number {
    return LOOK_MILLISECONDS;
  }

  canMake(): Result<void, InvalidRequest> {
    return ok(undefined);
  }

  async submit({ taskId, request }: GenerationOrder): Promise<Result<string, SubmissionFailure>> {
    const trigger = sandboxTriggerOf(request.prompt);
    // An answer without a task id would be unclear from anybody else; here it is known that nothing was started.
    if (trigger === "reject") return err({ kind: "refused", reason: "the prompt asked for a refusal" });
    if (trigger === "no-id")
      return err({ kind: "refused", reason: "the prompt asked for an answer without a task id" });

    const { widthPixels, heightPixels } = RESOLUTIONS[request.resolution];
    const added = await onDisk(async () => {
      await this.folder.add(taskId, {
        submittedAt: this.clock.now(),
        prompt: request.prompt,
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
    return onDisk(() => this.progress(upstreamTaskId.slice(ID_PREFIX.length) as TaskId));
  }

  private async progress(taskId: TaskId): Promise<Result<Progress, ProviderUnavailable>> {
    const job = await this.folder.find(taskId);
    if (job === undefined) return ok({ state: "failed", reason: "there is no such generation" });

    const outcome = await this.folder.outcome(job);
    // Also when the process that was painting has died.
    if (outcome === undefined) this.startPainting(taskId, job);
    const trouble = this.troubles.get(taskId);
    if (trouble !== undefined) {
      this.troubles.delete(taskId);
      return err({ kind: "provider_unavailable", reason: trouble });
    }
    const elapsedMilliseconds = this.clock.now().getTime() - job.submittedAt.getTime();
    if (outcome === undefined || elapsedMilliseconds < this.shortest(job)) return ok({ state: "running" });
    if (outcome.kind === "failed") return ok({ state: "failed", reason: outcome.reason });
    return ok({ state: "succeeded", temporaryUrl: this.temporaryUrlPrefix + job.resultName });
  }

  search(taskId: TaskId): Promise<Result<string | undefined, ProviderUnavailable>> {
    return onDisk(async () => ok((await this.folder.find(taskId)) === undefined ? undefined : idOf(taskId)));
  }

  download(temporaryUrl: string): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>> {
    const name = temporaryUrl.startsWith(this.temporaryUrlPrefix)
      ? temporaryUrl.slice(this.temporaryUrlPrefix.length)
      : "";
    return onDisk(async () => {
      const bytes = await this.temporaryImage(name);
      if (bytes === undefined) return err({ kind: "result_gone", reason: "there is no such temporary image" });
      return ok({ bytes, thumbnail: triggerIn(name) === "no-thumb" ? "unavailable" : "possible" });
    });
  }

  /** What is served under `/generations/{name}`: JPEG bytes, or `undefined` if there is no such image (any more). */
  async temporaryImage(name: string): Promise<Uint8Array | undefined> {
    return RESULT_NAME.test(name) && triggerIn(name) !== "expired" ? this.folder.result(name) : undefined;
  }

  /** Forgets jobs and temporary images that are older than 24 hours; to be called now and then. */
  async clean(): Promise<void> {
    await this.folder.removeOlderThan(new Date(this.clock.now().getTime() - KEPT_MILLISECONDS));
  }

  /** Resolves when nothing is being painted any more. */
  async idle(): Promise<void> {
    await Promise.all(this.painting.values());
  }

  /** One painting of a job at a time in this process; a second one elsewhere ends with the same picture. */
  private startPainting(taskId: TaskId, job: Job): void {
    if (this.painting.has(taskId)) return;
    const painting = this.paint(job)
      .then((result) => (result === undefined ? undefined : this.folder.finish(job, result)))
      .catch((error: unknown) => void this.troubles.set(taskId, String(error)))
      .finally(() => this.painting.delete(taskId));
    this.painting.set(taskId, painting);
  }

  /** `undefined` if this process is about to end: the next one paints it. */
  private async paint(job: Job): Promise<Uint8Array | { readonly failed: string } | undefined> {
    const trigger = sandboxTriggerOf(job.prompt);
    if (trigger === "fail") return { failed: "the prompt asked for a failure" };
    if (trigger === "storage-fail") return Buffer.from("This is not an image, as the prompt asked.\n");

    const references: Reference[] = [];
    // As many pixels as the picture has where a reference hangs: all that can be seen, and no flicker between them.
    const sidePixels = Math.ceil((1.25 * job.widthPixels * REFERENCE_WIDTH_RADIANS) / (2 * Math.PI));
    for (const url of job.imageUrls) {
      const reference = await this.references.load(url, sidePixels);
      if (reference.isErr()) return { failed: reference.error.reason };
      references.push(reference.value);
    }
    const size = { widthPixels: job.widthPixels, heightPixels: job.heightPixels };
    const painted = await this.pool.paint({ scene: sceneOf(job.prompt, references), references, size });
    if (painted.isErr()) return painted.error.kind === "closed" ? undefined : { failed: painted.error.reason };
    return sharp(painted.value, { raw: { width: job.widthPixels, height: job.heightPixels, channels: 3 } })
      .jpeg({ quality: JPEG_QUALITY, chromaSubsampling: "4:4:4" })
      .toBuffer();
  }

  private shortest(job: Job): number {
    return sandboxTriggerOf(job.prompt) === "slow" ? SLOW_MILLISECONDS : this.delayMilliseconds;
  }
}

/** A disk that fails is a provider that does not answer: the task's deadline decides, and the customer is refunded. */
const onDisk = async <T, E>(work: () => Promise<Result<T, E>>): Promise<Result<T, E | ProviderUnavailable>> => {
  try {
    return await work();
  } catch (error) {
    return err({ kind: "provider_unavailable", reason: String(error) });
  }
};

const idOf = (taskId: TaskId): string => ID_PREFIX + taskId;

const freshResultName = (trigger: SandboxTrigger | undefined): string => {
  const shownLater = trigger === "expired" || trigger === "no-thumb" ? `.${trigger}` : "";
  return `${randomBytes(16).toString("base64url")}${shownLater}.jpg`;
};

const triggerIn = (resultName: string): string | undefined => RESULT_NAME.exec(resultName)?.[1];
