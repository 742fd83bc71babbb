import { mkdir, readdir, readFile, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import type { FailureCause } from "../../../application/ports/generation-provider.js";
import type { TaskId } from "../../../domain/ids.js";
import { isFileError, writeOnce } from "../../system/files.js";

const jobSchema = z.object({
  /** Missing if the order has none. */
  owner: z.string().optional(),
  submittedAt: z.iso.datetime().transform((text) => new Date(text)),
  prompt: z.string().optional(),
  seed: z.int().optional(),
  imageUrls: z.array(z.string()),
  widthPixels: z.int(),
  heightPixels: z.int(),
  /** Name of the result file. Cannot be guessed. */
  resultName: z.string(),
});

/** One generation order. */
export type Job = z.output<typeof jobSchema>;

const failureSchema = z.object({
  reason: z.string(),
  cause: z.custom<FailureCause>().optional(),
  imageIndex: z.int().optional(),
  imageProblem: z.string().optional(),
});

/** A generation without a picture. `reason` is for the log. */
export type JobFailure = z.output<typeof failureSchema>;

/** Outcome of a generation. */
export type Outcome = { readonly kind: "painted" } | ({ readonly kind: "failed" } & JobFailure);

/**
 * The durable state of the local provider: jobs, named by task id, and their outcomes. Every file is written once and
 * as a whole, so any number of processes may share the folder, and each may be killed at any time.
 */
export class JobFolder {
  private readonly jobs: string;
  private readonly results: string;
  private readonly ready: Promise<unknown>;

  constructor(folder: string) {
    this.jobs = join(folder, "jobs");
    this.results = join(folder, "results");
    this.ready = Promise.all([this.jobs, this.results].map((path) => mkdir(path, { recursive: true })));
    // Each method that awaits it throws the error; this prevents an unhandled rejection before that.
    this.ready.catch(() => {});
  }

  /** Stores the job unless the task has one already. */
  async add(taskId: TaskId, job: Job): Promise<void> {
    await this.ready;
    await writeOnce(this.jobPath(taskId), JSON.stringify(job));
  }

  async find(taskId: TaskId): Promise<Job | undefined> {
    const text = await readIfExists(this.jobPath(taskId));
    return text === undefined ? undefined : jobSchema.parse(JSON.parse(text.toString()));
  }

  async finish(job: Job, result: Uint8Array | JobFailure): Promise<void> {
    await this.ready;
    if (result instanceof Uint8Array) await writeOnce(this.resultPath(job.resultName), result);
    else await writeOnce(this.failurePath(job.resultName), JSON.stringify(result));
  }

  async outcome(job: Job): Promise<Outcome | undefined> {
    if (await fileExists(this.resultPath(job.resultName))) return { kind: "painted" };
    const failure = await readIfExists(this.failurePath(job.resultName));
    return failure && { kind: "failed", ...failureSchema.parse(JSON.parse(failure.toString())) };
  }

  /** `name` becomes a part of a path, so the caller must have checked it. */
  async result(name: string): Promise<Uint8Array | undefined> {
    return readIfExists(this.resultPath(name));
  }

  async has(taskId: TaskId): Promise<boolean> {
    return fileExists(this.jobPath(taskId));
  }

  /** Removes the job of the task and its result. The job is removed last, because it names the result. */
  async remove(taskId: TaskId): Promise<void> {
    const job = await this.find(taskId);
    if (job === undefined) return;
    await this.removeOutcome(job);
    await undefinedIfMissing(unlink(this.jobPath(taskId)));
  }

  async removeOutcome({ resultName }: Job): Promise<void> {
    await undefinedIfMissing(unlink(this.resultPath(resultName)));
    await undefinedIfMissing(unlink(this.failurePath(resultName)));
  }

  /** Removes every file that was last written before `before`. */
  async removeOlderThan(before: Date): Promise<void> {
    await this.ready;
    for (const folder of [this.results, this.jobs]) {
      for (const name of await readdir(folder)) {
        const path = join(folder, name);
        // Another process may remove files at the same time.
        const written = await undefinedIfMissing(stat(path));
        if (written !== undefined && written.mtime < before) await undefinedIfMissing(unlink(path));
      }
    }
  }

  private jobPath(taskId: TaskId): string {
    return join(this.jobs, `${encodeURIComponent(taskId)}.json`);
  }

  private resultPath(name: string): string {
    return join(this.results, name);
  }

  private failurePath(name: string): string {
    return join(this.results, `${name}.failed`);
  }
}

const readIfExists = (path: string): Promise<Buffer | undefined> => undefinedIfMissing(readFile(path));

const fileExists = async (path: string): Promise<boolean> => (await undefinedIfMissing(stat(path))) !== undefined;

const undefinedIfMissing = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (isFileError(error, "ENOENT")) return undefined;
    throw error;
  }
};
