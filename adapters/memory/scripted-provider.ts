import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../application/ports/clock.js";
import {
  type Cancellation,
  CUSTOMERS_CAUSES,
  type CustomersCause,
  type DownloadFailure,
  type FailureCause,
  type GeneratedImage,
  type GenerationOrder,
  type GenerationProvider,
  type PlaceWithReadiness,
  type Progress,
  type ProviderUnavailable,
  type Readiness,
  type SubmissionFailure,
} from "../../application/ports/generation-provider.js";
import type { TaskId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { type Abilities, ALL_ABILITIES, admitAbilities } from "../../domain/tasks/abilities.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import { image } from "./memory-imaging.js";

/**
 * Answers of the provider to calls. The script, or parts of it, may be replaced at any time. Getters in a script can
 * answer each call differently.
 */
export type Script = {
  /** `unknown…`: the call has no clear result; the upstream task is started or not. A cause: it is refused for it. */
  readonly submit:
    | "accept"
    | "refuse"
    | CustomersCause
    | "provider_unavailable"
    | "busy"
    | "unknown"
    | "unknown_but_started";
  /** Used only while the upstream task runs: a finished one does not change any more. A cause: it fails for it. */
  readonly poll: "running" | "succeeded" | "failed" | FailureCause | "unavailable";
  /** `nothing`: the search does not find the task (yet), so it is not certain that it was not started. */
  readonly search: "found_if_started" | "nothing" | "unavailable";
  readonly download:
    | "image"
    | "image_without_thumbnail"
    | "image_that_expires"
    | "image_that_fails"
    | "no_image"
    | "black"
    | "gone"
    | "unusable"
    | "unavailable";
  readonly discard: "done" | "unavailable";
  /** `stops`: only an upstream task that still runs. */
  readonly cancel: "stops" | "too_late" | "unavailable";
};

/** Default answers of all calls. */
const SUCCESS: Script = {
  submit: "accept",
  poll: "succeeded",
  search: "found_if_started",
  download: "image",
  discard: "done",
  cancel: "stops",
};

/**
 * A provider in memory that follows a script. Without a script it accepts each order, and the first poll finds the
 * image. It remembers the tasks that it has started. A finished upstream task does not change any more. It counts
 * started tasks, because a real provider would charge each one. Its images are those of `MemoryImaging`: text, no
 * pictures.
 */
export class ScriptedProvider implements GenerationProvider {
  readonly name: string;
  /** Number of generations that run at once. `undefined`: unlimited. */
  concurrencyMax: number | undefined;
  callsPerSecond: number | undefined;
  /** Return value of `readiness`. */
  ready: Readiness = "ready";
  script: Script;
  /** The poll at which a generation ends as the script says. The polls before it find it running. */
  endsAtPoll = 1;
  /** Decides whether it is too late to start a task. */
  clock: Pick<Clock, "now"> = { now: () => new Date(0) };
  /** Creations beyond them are refused. */
  abilities: Abilities = ALL_ABILITIES;
  /** Return value of `checkRequest` for creations within the abilities. */
  makes: Result<void, InvalidRequest> = ok(undefined);

  /** The number of downloads so far. */
  downloads = 0;
  /** The upstream tasks that were discarded, in this order. */
  readonly discarded: string[] = [];
  /** The upstream tasks that were canceled. */
  readonly canceled = new Set<string>();
  private readonly upstream = new Map<string, { readonly taskId: TaskId; polls: number; progress: Progress }>();
  private readonly held = new Map<keyof Script, Promise<void>>();

  constructor(script: Partial<Script> = {}, name = "scripted") {
    this.name = name;
    this.script = { ...SUCCESS, ...script };
  }

  places(): readonly PlaceWithReadiness[] {
    const { name, concurrencyMax, ready, abilities } = this;
    const canMake = (request: CreationRequest) => this.checkRequest(request).isOk();
    return [{ name, concurrencyMax, readiness: ready, canMake, abilities }];
  }

  readiness(): Readiness {
    return this.ready;
  }

  nextPollMilliseconds(): number {
    return 5_000;
  }

  /** Changes parts of the script. */
  play(changes: Partial<Script>): void {
    this.script = { ...this.script, ...changes };
  }

  /** Delays the answers of these calls, but not their effects, until the returned function is called. */
  hold(call: keyof Script): () => void {
    let release = () => {};
    this.held.set(
      call,
      new Promise((resolve) => {
        release = resolve;
      }),
    );
    return () => {
      this.held.delete(call);
      release();
    };
  }

  /** Number of upstream tasks started for a task. More than one means that the provider charges twice. */
  startedFor(taskId: TaskId): number {
    return [...this.upstream.values()].filter((task) => task.taskId === taskId).length;
  }

  /** True if the upstream task of a task was canceled. */
  wasCanceled(taskId: TaskId): boolean {
    return [...this.upstream].some(([id, task]) => task.taskId === taskId && this.canceled.has(id));
  }

  /** True if the upstream task of a task has ended without a result. */
  hasFailed(taskId: TaskId): boolean {
    return [...this.upstream.values()].some((task) => task.taskId === taskId && task.progress.state === "failed");
  }

  /** Number of upstream tasks started so far. */
  get started(): number {
    return this.upstream.size;
  }

  checkRequest(request?: CreationRequest): Result<void, InvalidRequest> {
    return request === undefined ? this.makes : admitAbilities(this.abilities, request).andThen(() => this.makes);
  }

  async submit({ taskId }: GenerationOrder, submissionDeadline?: Date): Promise<Result<string, SubmissionFailure>> {
    const { submit } = this.script;
    if (submissionDeadline !== undefined && this.clock.now() >= submissionDeadline) {
      return err({ kind: "busy", reason: "it is too late to start the task" });
    }
    const starts = submit === "accept" || submit === "unknown_but_started";
    const upstreamTaskId = starts ? this.start(taskId) : "";
    await this.held.get("submit");
    if (submit === "accept") return ok(upstreamTaskId);
    if (submit === "busy") return err({ kind: "busy", reason: "the script is busy" });
    if (submit === "refuse") return err({ kind: "refused", reason: "the script refuses" });
    return isCause(submit)
      ? err({ kind: "refused", reason: "the script refuses", cause: submit })
      : err({ kind: "unknown", reason: "the script gives no clear answer" });
  }

  async poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>> {
    const { poll } = this.script;
    const task = this.upstream.get(upstreamTaskId);
    if (task === undefined) throw new Error(`nothing was started as ${upstreamTaskId}`);
    task.polls += 1;
    const ends = task.progress.state === "running" && task.polls >= this.endsAtPoll;
    if (ends && poll === "succeeded") {
      task.progress = { state: "succeeded", temporaryUrl: `https://temporary.example/${upstreamTaskId}` };
    }
    if (ends && poll === "failed") task.progress = { state: "failed", reason: "the script fails" };
    if (ends && isCause(poll)) task.progress = { state: "failed", reason: "the script fails", cause: poll };
    await this.held.get("poll");
    return poll === "unavailable" ? err(unavailable) : ok(task.progress);
  }

  async search(taskId: TaskId): Promise<Result<string | undefined, ProviderUnavailable>> {
    const { search } = this.script;
    const found = [...this.upstream].find(([, task]) => task.taskId === taskId)?.[0];
    await this.held.get("search");
    if (search === "unavailable" || (search === "nothing" && found !== undefined)) return err(unavailable);
    return ok(found);
  }

  async download(temporaryUrl: string): Promise<Result<GeneratedImage, DownloadFailure>> {
    const { download } = this.script;
    this.downloads += 1;
    await this.held.get("download");
    switch (download) {
      case "gone":
        return err({ kind: "result_gone", reason: "the script lets the URL expire" });
      case "unusable":
        return err({ kind: "result_unusable", reason: "the script lets the URL lead to a private address" });
      case "unavailable":
        return err(unavailable);
      case "black":
        return ok({ bytes: image("black"), thumbnail: "possible" });
      case "no_image":
        return ok({ bytes: new TextEncoder().encode("<html>this is no image</html>"), thumbnail: "possible" });
      default:
        return ok({
          bytes: image(temporaryUrl),
          thumbnail: download === "image_without_thumbnail" ? "unavailable" : "possible",
          ...(download === "image_that_expires" && { ends: "expired" as const }),
          ...(download === "image_that_fails" && { ends: "failed" as const }),
        });
    }
  }

  async cancel(upstreamTaskId: string): Promise<Result<Cancellation, ProviderUnavailable>> {
    const { cancel } = this.script;
    const task = this.upstream.get(upstreamTaskId);
    const stops =
      cancel === "stops" &&
      task !== undefined &&
      (task.progress.state === "running" || this.canceled.has(upstreamTaskId));
    if (stops) {
      this.canceled.add(upstreamTaskId);
      task.progress = { state: "failed", reason: "canceled" };
    }
    await this.held.get("cancel");
    if (cancel === "unavailable") return err(unavailable);
    return ok(stops ? "canceled" : "too_late");
  }

  async discard(upstreamTaskId: string): Promise<Result<void, ProviderUnavailable>> {
    if (this.script.discard === "unavailable") return err(unavailable);
    this.discarded.push(upstreamTaskId);
    return ok(undefined);
  }

  private start(taskId: TaskId): string {
    const upstreamTaskId = `upstream-${this.upstream.size + 1}`;
    this.upstream.set(upstreamTaskId, { taskId, polls: 0, progress: { state: "running" } });
    return upstreamTaskId;
  }
}

const CAUSES: ReadonlySet<string> = new Set<FailureCause>([
  ...CUSTOMERS_CAUSES,
  "never_started",
  "deadline_passed",
  "provider_unavailable",
  "unusable_result",
]);

const isCause = <T extends string>(answer: T): answer is Extract<T, FailureCause> => CAUSES.has(answer);

const unavailable: ProviderUnavailable = { kind: "provider_unavailable", reason: "the script is unavailable" };
