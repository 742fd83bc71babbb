import { err, ok, type Result } from "neverthrow";
import { rulePredicate } from "../../adapters/wording/rule-predicate.js";
import type { Clock } from "../../application/ports/clock.js";
import {
  type DownloadFailure,
  type FailureCause,
  type GeneratedImage,
  type GenerationProvider,
  sourceTypeOf,
} from "../../application/ports/generation-provider.js";
import type { Ids } from "../../application/ports/ids.js";
import type { EncodedPanorama, Imaging } from "../../application/ports/imaging.js";
import { RESOLUTIONS } from "../../domain/images/resolution.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import {
  costOfGeneration,
  type GenerationCost,
  type ProviderPrices,
  priceOf,
} from "../../domain/tasks/generation-cost.js";

export type PicturePorts = {
  readonly clock: Clock;
  readonly ids: Pick<Ids, "taskId">;
  readonly imaging: Pick<Imaging, "panorama">;
  /** For one picture, from its submission until it is downloaded. */
  readonly deadlineMilliseconds: number;
  readonly providerPrices: ProviderPrices;
  /** Ends the generation, where the provider can still stop it. */
  readonly signal: AbortSignal;
};

/** `seconds`: from the submission until the download, as a customer would wait. */
export type MadePicture = { readonly panorama: EncodedPanorama; readonly seconds: number } & Costed;

/** What it cost, as far as that is known. A failure may cost, too. */
type Costed = { readonly cost?: GenerationCost | undefined };

/** `reason` is a clause without a full stop. `canceled`: the command was interrupted. */
export type NoPicture = {
  readonly status: "failed" | "canceled";
  readonly reason: string;
  readonly cause?: FailureCause | undefined;
} & Costed;

/** Between two attempts to submit to a provider that is busy, and to download a result. */
const PAUSE_MILLISECONDS = 1_000;

const failed = (reason: string, cause?: FailureCause): NoPicture => ({ status: "failed", reason, cause });

/** Makes one picture straight at a provider, and brings it to its exact size, as the service does. */
export const makePicture = async (
  ports: PicturePorts,
  provider: GenerationProvider,
  request: CreationRequest,
): Promise<Result<MadePicture, NoPicture>> => {
  const made = provider.canMake(request);
  if (made.isErr()) return err(failed(`the provider cannot make it: ${clauseOf(made.error)}`));
  const attempt = new Attempt(ports, provider);
  const upstreamTaskId = await attempt.submit(request);
  if (upstreamTaskId.isErr()) return err(upstreamTaskId.error);
  const downloaded = await attempt.result(upstreamTaskId.value, request);
  const { seconds, cost } = attempt;
  if (downloaded.isErr()) return err({ ...downloaded.error, cost });
  const { bytes } = downloaded.value;
  const sourceType = sourceTypeOf(downloaded.value, request);
  const panorama = await ports.imaging.panorama(bytes, RESOLUTIONS[request.resolution], sourceType);
  return panorama
    .map((encoded) => ({ panorama: encoded, seconds, cost }))
    .mapErr(({ reason }) => ({ ...failed(`the result is unusable: ${reason}`), cost }));
};

const clauseOf = ({ field, rule }: { readonly field: string; readonly rule: Parameters<typeof rulePredicate>[0] }) =>
  `${field} ${rulePredicate(rule)}`.replace(/\.$/, "");

/** One generation, with its time. */
class Attempt {
  private readonly ports: PicturePorts;
  private readonly provider: GenerationProvider;
  private readonly start: Date;
  cost: GenerationCost | undefined;

  constructor(ports: PicturePorts, provider: GenerationProvider) {
    this.ports = ports;
    this.provider = provider;
    this.start = ports.clock.now();
  }

  get seconds(): number {
    return this.milliseconds / 1000;
  }

  private get milliseconds(): number {
    return this.ports.clock.now().getTime() - this.start.getTime();
  }

  /** Why it must not go on; `undefined` if it may. */
  private get end(): NoPicture | undefined {
    const { signal, deadlineMilliseconds } = this.ports;
    if (signal.aborted) return { status: "canceled", reason: "interrupted" };
    if (this.milliseconds < deadlineMilliseconds) return undefined;
    return failed(`not finished after ${Math.round(deadlineMilliseconds / 1000)} s`);
  }

  private pause(milliseconds: number): Promise<void> {
    return this.ports.clock.sleep(milliseconds, this.ports.signal);
  }

  /** Resolves to the id of the generation. Waits while the provider is busy. */
  async submit(request: CreationRequest): Promise<Result<string, NoPicture>> {
    const taskId = this.ports.ids.taskId();
    let busy = "";
    for (let submission = 0; this.end === undefined; submission += 1) {
      const answer = await this.provider.submit({ taskId, submission, request });
      if (answer.isOk()) return ok(answer.value);
      const { kind, reason, cause } = answer.error;
      if (kind === "refused") return err(failed(reason, cause));
      if (kind === "unknown") {
        const found = (await this.provider.search(taskId, this.start)).unwrapOr(undefined);
        return found === undefined
          ? err(failed(`unclear whether the provider has accepted it: ${reason}`, cause))
          : ok(found);
      }
      busy = `, because the provider is busy: ${reason}`;
      await this.pause(PAUSE_MILLISECONDS);
    }
    return err({ ...this.end, reason: this.end.reason + busy });
  }

  /** The result, as soon as there is one. */
  async result(upstreamTaskId: string, { resolution }: CreationRequest): Promise<Result<GeneratedImage, NoPicture>> {
    let unavailable = "";
    while (this.end === undefined) {
      await this.pause(this.provider.nextPollMilliseconds(upstreamTaskId, this.milliseconds));
      if (this.ports.signal.aborted) break;
      const progress = await this.provider.poll(upstreamTaskId);
      unavailable = progress.isErr() ? `: ${progress.error.reason}` : "";
      if (progress.isErr() || progress.value.state === "running") continue;
      const { billed, state } = progress.value;
      const price = priceOf(this.ports.providerPrices, this.provider.name);
      this.cost = costOfGeneration(price, resolution, { billed, isMade: state === "succeeded" });
      if (progress.value.state === "failed") return err(failed(progress.value.reason, progress.value.cause));
      return this.download(progress.value.temporaryUrl, upstreamTaskId);
    }
    return err(await this.stop(upstreamTaskId, unavailable));
  }

  private async download(url: string, upstreamTaskId: string): Promise<Result<GeneratedImage, NoPicture>> {
    for (;;) {
      const downloaded = await this.provider.download(url, upstreamTaskId);
      if (downloaded.isOk()) return ok(downloaded.value);
      const { kind, reason }: DownloadFailure = downloaded.error;
      const end = kind === "provider_unavailable" ? this.end : failed("the result cannot be downloaded");
      if (end !== undefined) return err({ ...end, reason: `${end.reason}: ${reason}` });
      await this.pause(PAUSE_MILLISECONDS);
    }
  }

  /** Ends what the provider still does, so that nothing more is paid where that is possible. */
  private async stop(upstreamTaskId: string, detail: string): Promise<NoPicture> {
    const end = this.end ?? failed("stopped");
    const canceled = await this.provider.cancel?.(upstreamTaskId);
    const stopped = canceled?.isOk() === true && canceled.value === "canceled";
    const then = stopped ? "it was canceled" : "the provider may go on with it, and charge it";
    return { ...end, reason: `${end.reason}${detail}; ${then}` };
  }
}
