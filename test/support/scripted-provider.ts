import { err, ok, type Result } from "neverthrow";
import type {
  GeneratedImage,
  GenerationOrder,
  GenerationProvider,
  Progress,
  ProviderUnavailable,
  Readiness,
  ResultGone,
  SubmissionFailure,
} from "../../application/ports/generation-provider.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { TaskId } from "../../domain/task-id.js";
import { image } from "./fake-imaging.js";

/**
 * What the provider does with the calls that come: a test replaces it, or parts of it, at any time. A script that is to
 * play each call differently has getters.
 */
export type Script = {
  /** `unknown…`: the call has no clear end, with or without having started the upstream task. */
  readonly submit: "accept" | "refuse" | "unknown" | "unknown_but_started";
  /** Asked only while the upstream task runs: one that has ended stays as it ended. */
  readonly poll: "running" | "succeeded" | "failed" | "unavailable";
  /** `nothing`: the search does not know the task (yet), though it may have been started. */
  readonly search: "found_if_started" | "nothing" | "unavailable";
  readonly download: "image" | "image_without_thumbnail" | "no_image" | "gone" | "unavailable";
};

const ALL_GOES_WELL: Script = {
  submit: "accept",
  poll: "succeeded",
  search: "found_if_started",
  download: "image",
};

/**
 * A provider in memory that plays a script. It is honest: what it has started it remembers, an upstream task that has
 * ended does not change any more, and it counts what it has started, which is what would be paid for.
 */
export class ScriptedProvider implements GenerationProvider {
  readonly name: string;
  concurrencyMax: number | undefined;
  ready: Readiness = "ready";
  script: Script;
  makes: Result<void, InvalidRequest> = ok(undefined);

  private readonly upstream = new Map<string, { readonly taskId: TaskId; progress: Progress }>();
  private readonly held = new Map<keyof Script, Promise<void>>();

  constructor(script: Partial<Script> = {}, name = "scripted") {
    this.name = name;
    this.script = { ...ALL_GOES_WELL, ...script };
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

  /** From now on such calls do their work, but their answers wait until the function that is returned is called. */
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

  /** Upstream tasks that were started for a task: more than one would be paid for twice. */
  startedFor(taskId: TaskId): number {
    return [...this.upstream.values()].filter((task) => task.taskId === taskId).length;
  }

  get started(): number {
    return this.upstream.size;
  }

  canMake(): Result<void, InvalidRequest> {
    return this.makes;
  }

  async submit({ taskId }: GenerationOrder): Promise<Result<string, SubmissionFailure>> {
    const { submit } = this.script;
    const starts = submit === "accept" || submit === "unknown_but_started";
    const upstreamTaskId = starts ? this.start(taskId) : "";
    await this.held.get("submit");
    if (submit === "accept") return ok(upstreamTaskId);
    return submit === "refuse"
      ? err({ kind: "refused", reason: "the script refuses" })
      : err({ kind: "unknown", reason: "the script gives no clear answer" });
  }

  async poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>> {
    const { poll } = this.script;
    const task = this.upstream.get(upstreamTaskId);
    if (task === undefined) throw new Error(`nothing was started as ${upstreamTaskId}`);
    if (task.progress.state === "running" && poll === "succeeded") {
      task.progress = { state: "succeeded", temporaryUrl: `https://temporary.example/${upstreamTaskId}` };
    }
    if (task.progress.state === "running" && poll === "failed") {
      task.progress = { state: "failed", reason: "the script fails" };
    }
    await this.held.get("poll");
    return poll === "unavailable" ? err(unavailable) : ok(task.progress);
  }

  async search(taskId: TaskId): Promise<Result<string | undefined, ProviderUnavailable>> {
    const { search } = this.script;
    const found = [...this.upstream].find(([, task]) => task.taskId === taskId)?.[0];
    await this.held.get("search");
    if (search === "unavailable") return err(unavailable);
    return ok(search === "nothing" ? undefined : found);
  }

  async download(temporaryUrl: string): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>> {
    const { download } = this.script;
    await this.held.get("download");
    switch (download) {
      case "gone":
        return err({ kind: "result_gone", reason: "the script lets the URL expire" });
      case "unavailable":
        return err(unavailable);
      case "no_image":
        return ok({ bytes: Buffer.from("<html>this is no image</html>"), thumbnail: "possible" });
      default:
        return ok({
          bytes: image(temporaryUrl),
          thumbnail: download === "image" ? "possible" : "unavailable",
        });
    }
  }

  private start(taskId: TaskId): string {
    const upstreamTaskId = `upstream-${this.upstream.size + 1}`;
    this.upstream.set(upstreamTaskId, { taskId, progress: { state: "running" } });
    return upstreamTaskId;
  }
}

const unavailable: ProviderUnavailable = { kind: "provider_unavailable", reason: "the script is unavailable" };
