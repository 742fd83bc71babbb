import { err, ok, type Result } from "neverthrow";
import type {
  Cancellation,
  DownloadFailure,
  GeneratedImage,
  GenerationOrder,
  GenerationProvider,
  Progress,
  ProviderUnavailable,
  Readiness,
  SubmissionFailure,
} from "../../application/ports/generation-provider.js";
import type { CreationRequest } from "../../domain/creation-request.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { TaskId } from "../../domain/task-id.js";
import { unavailable } from "./unavailable.js";

const BEST_FIRST: readonly Readiness[] = ["ready", "probing", "busy"];

type Providers = readonly [GenerationProvider, ...GenerationProvider[]];

/**
 * Tries providers in order: the next one gets a creation only if the earlier ones have certainly not started it. An
 * upstream task id is `{provider}:{id of that provider}`, also with a single provider, so that it always names the
 * provider of the task.
 */
export class ProviderChain implements GenerationProvider {
  readonly name: string;
  /** The smallest limit of all providers, because the queue does not know which provider will get a task. */
  readonly concurrencyMax: number | undefined;
  /** Of all providers together. */
  readonly callsPerSecond: number | undefined;
  private readonly providers: Providers;
  private readonly warn: (message: string) => void;

  /** `warn` receives a sentence for the operator when a fallback is used. */
  constructor(providers: Providers, warn: (message: string) => void) {
    this.providers = providers;
    this.warn = warn;
    this.name = providers.map(({ name }) => name).join(",");
    const limits = providers.flatMap(({ concurrencyMax }) => concurrencyMax ?? []);
    this.concurrencyMax = limits.length === 0 ? undefined : Math.min(...limits);
    this.callsPerSecond = providers.reduce<number | undefined>(
      (sum, { callsPerSecond }) =>
        sum === undefined || callsPerSecond === undefined ? undefined : sum + callsPerSecond,
      0,
    );
  }

  readiness(): Readiness {
    const all = this.providers.map((provider) => provider.readiness());
    return BEST_FIRST.find((one) => all.includes(one)) ?? "down";
  }

  nextPollMilliseconds(upstreamTaskId: string, sinceSubmissionMilliseconds: number): number {
    const { provider = this.providers[0], id } = this.locate(upstreamTaskId);
    return provider.nextPollMilliseconds(id, sinceSubmissionMilliseconds);
  }

  canMake(request: CreationRequest): Result<void, InvalidRequest> {
    const [first, ...others] = this.providers;
    const made = first.canMake(request);
    return others.some((provider) => provider.canMake(request).isOk()) ? ok(undefined) : made;
  }

  async submit(order: GenerationOrder, submissionDeadline?: Date): Promise<Result<string, SubmissionFailure>> {
    const refusals: string[] = [];
    let anyBusy = false;
    for (const provider of this.providers.filter((one) => one.canMake(order.request).isOk())) {
      const { name } = provider;
      if (provider.readiness() === "down") {
        refusals.push(`${name}: does not respond`);
        continue;
      }
      if (refusals.length > 0) this.warn(`${name} is asked instead (${refusals.join("; ")}).`);
      const submitted = await provider.submit(order, submissionDeadline);
      if (submitted.isOk()) return ok(`${name}:${submitted.value}`);
      const { kind, reason } = submitted.error;
      refusals.push(`${name}: ${reason}`);
      // Something may have been started, so no other provider is tried.
      if (kind === "unknown") return err({ kind, reason: refusals.join("; ") });
      anyBusy ||= kind === "busy";
    }
    const reason = refusals.join("; ") || "no provider can make it";
    return err({ kind: anyBusy ? "busy" : "refused", reason });
  }

  async poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>> {
    const { provider, id } = this.locate(upstreamTaskId);
    return provider === undefined ? ok({ state: "failed", reason: notConfigured(upstreamTaskId) }) : provider.poll(id);
  }

  async search(taskId: TaskId, since: Date): Promise<Result<string | undefined, ProviderUnavailable>> {
    const unavailableOnes: string[] = [];
    for (const provider of this.providers) {
      const found = await provider.search(taskId, since);
      if (found.isErr()) unavailableOnes.push(`${provider.name}: ${found.error.reason}`);
      else if (found.value !== undefined) return ok(`${provider.name}:${found.value}`);
    }
    return unavailableOnes.length === 0 ? ok(undefined) : err(unavailable(unavailableOnes.join("; ")));
  }

  async download(temporaryUrl: string, upstreamTaskId: string): Promise<Result<GeneratedImage, DownloadFailure>> {
    const { provider, id } = this.locate(upstreamTaskId);
    // Unavailable and not gone: the operator may configure the provider again.
    return provider === undefined
      ? err(unavailable(notConfigured(upstreamTaskId)))
      : provider.download(temporaryUrl, id);
  }

  async cancel(upstreamTaskId: string): Promise<Result<Cancellation, ProviderUnavailable>> {
    const { provider, id } = this.locate(upstreamTaskId);
    return (await provider?.cancel?.(id)) ?? ok("too_late");
  }

  async discard(upstreamTaskId: string): Promise<Result<void, ProviderUnavailable>> {
    const { provider, id } = this.locate(upstreamTaskId);
    if (provider === undefined) return err(unavailable(notConfigured(upstreamTaskId)));
    return (await provider.discard?.(id)) ?? ok(undefined);
  }

  /** `provider` is absent if it is not configured any more. */
  private locate(upstreamTaskId: string): { readonly provider?: GenerationProvider; readonly id: string } {
    for (const provider of this.providers) {
      const prefix = `${provider.name}:`;
      if (upstreamTaskId.startsWith(prefix)) return { provider, id: upstreamTaskId.slice(prefix.length) };
    }
    return { id: upstreamTaskId };
  }
}

const notConfigured = (upstreamTaskId: string): string =>
  `The provider of this task is not in PROVIDER any more: ${upstreamTaskId}`;
