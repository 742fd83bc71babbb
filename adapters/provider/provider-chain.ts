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
import type { CreationRequest } from "../../domain/creation-request.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { TaskId } from "../../domain/task-id.js";
import { unavailable } from "./unavailable.js";

const BEST_FIRST: readonly Readiness[] = ["ready", "probing", "busy"];

type Providers = readonly [GenerationProvider, ...GenerationProvider[]];

/**
 * Providers in the order in which they are asked: the next one gets a creation only if nothing was started for it
 * before. An upstream task id is `{provider}:{its own id}`, also where there is one provider, so that it always tells
 * whose task it is.
 */
export class ProviderChain implements GenerationProvider {
  readonly name: string;
  /** Tasks are not spread by who makes them, so that the smallest limit of all is what keeps everyone under their own. */
  readonly concurrencyMax: number | undefined;
  private readonly providers: Providers;
  private readonly warn: (message: string) => void;

  /** `warn` is told who is asked instead of whom. */
  constructor(providers: Providers, warn: (message: string) => void) {
    this.providers = providers;
    this.warn = warn;
    this.name = providers.map(({ name }) => name).join(",");
    const limits = providers.flatMap(({ concurrencyMax }) => concurrencyMax ?? []);
    this.concurrencyMax = limits.length === 0 ? undefined : Math.min(...limits);
  }

  readiness(): Readiness {
    const all = this.providers.map((provider) => provider.readiness());
    return BEST_FIRST.find((one) => all.includes(one)) ?? "down";
  }

  nextPollMilliseconds(upstreamTaskId: string, sinceSubmissionMilliseconds: number): number {
    const { provider = this.providers[0], id } = this.whose(upstreamTaskId);
    return provider.nextPollMilliseconds(id, sinceSubmissionMilliseconds);
  }

  canMake(request: CreationRequest): Result<void, InvalidRequest> {
    const [first, ...others] = this.providers;
    const made = first.canMake(request);
    return others.some((provider) => provider.canMake(request).isOk()) ? ok(undefined) : made;
  }

  async submit(order: GenerationOrder): Promise<Result<string, SubmissionFailure>> {
    const refusals: string[] = [];
    for (const provider of this.providers.filter((one) => one.canMake(order.request).isOk())) {
      const { name } = provider;
      if (provider.readiness() === "down") {
        refusals.push(`${name}: has not answered for a while`);
        continue;
      }
      if (refusals.length > 0) this.warn(`${name} is asked instead (${refusals.join("; ")}).`);
      const submitted = await provider.submit(order);
      if (submitted.isOk()) return ok(`${name}:${submitted.value}`);
      const { kind, reason } = submitted.error;
      refusals.push(`${name}: ${reason}`);
      // Something may have been started, so nobody else is asked.
      if (kind === "unknown") return err({ kind, reason: refusals.join("; ") });
    }
    return err({ kind: "refused", reason: refusals.join("; ") || "no provider can make it" });
  }

  async poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>> {
    const { provider, id } = this.whose(upstreamTaskId);
    return provider === undefined ? ok({ state: "failed", reason: notConfigured(upstreamTaskId) }) : provider.poll(id);
  }

  async search(taskId: TaskId): Promise<Result<string | undefined, ProviderUnavailable>> {
    const unasked: string[] = [];
    for (const provider of this.providers) {
      const found = await provider.search(taskId);
      if (found.isErr()) unasked.push(`${provider.name}: ${found.error.reason}`);
      else if (found.value !== undefined) return ok(`${provider.name}:${found.value}`);
    }
    return unasked.length === 0 ? ok(undefined) : err(unavailable(unasked.join("; ")));
  }

  async download(
    temporaryUrl: string,
    upstreamTaskId: string,
  ): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>> {
    const { provider, id } = this.whose(upstreamTaskId);
    // Nothing is lost yet: the operator may put the provider back.
    return provider === undefined
      ? err(unavailable(notConfigured(upstreamTaskId)))
      : provider.download(temporaryUrl, id);
  }

  /** `provider` is absent if it is not one of these (any more). */
  private whose(upstreamTaskId: string): { readonly provider?: GenerationProvider; readonly id: string } {
    for (const provider of this.providers) {
      const prefix = `${provider.name}:`;
      if (upstreamTaskId.startsWith(prefix)) return { provider, id: upstreamTaskId.slice(prefix.length) };
    }
    return { id: upstreamTaskId };
  }
}

const notConfigured = (upstreamTaskId: string): string =>
  `PROVIDER does not have the provider of this task (any more): ${upstreamTaskId}`;
