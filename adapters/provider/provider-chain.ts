import { err, ok, type Result } from "neverthrow";
import type {
  Cancellation,
  DownloadFailure,
  GeneratedImage,
  GenerationOrder,
  GenerationProvider,
  PlaceWithReadiness,
  Progress,
  ProviderUnavailable,
  Readiness,
  SubmissionFailure,
} from "../../application/ports/generation-provider.js";
import type { TaskId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import type { ProviderPlace } from "../../domain/tasks/queue.js";
import { unavailable } from "./sound-reference.js";

const BEST_FIRST: readonly Readiness[] = ["ready", "probing", "busy"];

type Providers = readonly [GenerationProvider, ...GenerationProvider[]];

/**
 * Sends a creation to the provider of its place, then to the others in order: the next one gets it only if the earlier
 * ones have certainly not started it, and only if it has a free slot. An upstream task id is
 * `{account of the provider}:{id of that provider}`, also with a single provider, so that it always names the account
 * whose generation it is. The models of one account can be changed while their tasks are running.
 */
export class ProviderChain implements GenerationProvider {
  readonly name: string;
  /** Sum over all providers. */
  readonly callsPerSecond: number | undefined;
  private readonly providers: Providers;
  protected readonly warn: (message: string) => void;

  /** `warn` receives a sentence for the operator when a fallback is used. */
  constructor(
    providers: Providers,
    warn: (message: string) => void,
    name = providers.map((provider) => provider.name).join(","),
  ) {
    this.providers = providers;
    this.warn = warn;
    this.name = name;
    this.callsPerSecond = providers.reduce<number | undefined>(
      (sum, { callsPerSecond }) =>
        sum === undefined || callsPerSecond === undefined ? undefined : sum + callsPerSecond,
      0,
    );
  }

  /** The places of all providers, in order. */
  places(): readonly PlaceWithReadiness[] {
    return this.providers.flatMap((provider) => provider.places().map((place) => inChain(provider, place)));
  }

  readiness(): Readiness {
    const all = this.providers.map((provider) => provider.readiness());
    return BEST_FIRST.find((one) => all.includes(one)) ?? "down";
  }

  nextPollMilliseconds(upstreamTaskId: string, sinceSubmissionMilliseconds: number): number {
    const { provider = this.providers[0], id } = this.locate(upstreamTaskId);
    return provider.nextPollMilliseconds(id, sinceSubmissionMilliseconds);
  }

  checkRequest(request: CreationRequest): Result<void, InvalidRequest> {
    const [first, ...others] = this.providers;
    const made = first.checkRequest(request);
    return others.some((provider) => provider.checkRequest(request).isOk()) ? ok(undefined) : made;
  }

  submit(order: GenerationOrder, submissionDeadline?: Date): Promise<Result<string, SubmissionFailure>> {
    return submitInOrder(holderFirst(this.providers, order.place), this.warn, order, submissionDeadline);
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
      else if (found.value !== undefined) return ok(`${accountOf(provider)}:${found.value}`);
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
      const prefix = `${accountOf(provider)}:`;
      if (upstreamTaskId.startsWith(prefix)) return { provider, id: upstreamTaskId.slice(prefix.length) };
    }
    return { id: upstreamTaskId };
  }
}

/** The providers, beginning with the provider of the place. */
export const holderFirst = <Provider extends GenerationProvider>(
  providers: readonly Provider[],
  place: string | undefined,
): readonly Provider[] => {
  const holder = providers.find((provider) => ownPlace(provider, place) !== undefined);
  return holder === undefined ? providers : [holder, ...providers.filter((provider) => provider !== holder)];
};

/**
 * Sends the order to one provider after the other, until one may have started it. Moves it to a slot of a provider
 * before sending it there. If a provider has no free slot, the order is `busy` and not refused: that provider may make
 * it later.
 */
export const submitInOrder = async (
  providers: readonly GenerationProvider[],
  warn: (message: string) => void,
  order: GenerationOrder,
  submissionDeadline?: Date,
): Promise<Result<string, SubmissionFailure>> => {
  const refusals: string[] = [];
  const full: string[] = [];
  /** Pause of each busy provider. 0 if it does not say. */
  const pauses: number[] = [];
  let anyRefuses = false;
  let { place } = order;
  const { request, changePlace } = order;
  const move: GenerationOrder["changePlace"] =
    changePlace &&
    (async (to) => {
      const moved = await changePlace(to);
      if (moved) place = to.name;
      return moved;
    });
  for (const provider of providers.filter((one) => one.checkRequest(request).isOk())) {
    const { name } = provider;
    if (provider.readiness() === "down") {
      refusals.push(`${name}: does not respond`);
      continue;
    }
    let slot = ownPlace(provider, place);
    if (slot === undefined && move !== undefined) {
      slot = await freeSlotAt(provider, request, move);
      if (slot === undefined) {
        full.push(`${name}: no slot is free`);
        continue;
      }
    }
    if (refusals.length > 0) warn(`${name} is asked instead (${refusals.join("; ")}).`);
    const own = { ...order, place: slot, changePlace: move && ((to: ProviderPlace) => move(inChain(provider, to))) };
    const submitted = await provider.submit(own, submissionDeadline);
    if (submitted.isOk()) return ok(`${accountOf(provider)}:${submitted.value}`);
    const { kind, reason, cause, retryAfterMilliseconds = 0 } = submitted.error;
    refusals.push(`${name}: ${reason}`);
    // Something may have been started, or the customer must change the request: no other provider is tried.
    if (kind === "unknown" || (cause !== undefined && cause !== "provider_unavailable")) {
      return err({ ...submitted.error, reason: refusals.join("; ") });
    }
    if (kind === "busy") pauses.push(retryAfterMilliseconds);
    anyRefuses ||= cause === undefined;
  }
  const reason = [...refusals, ...full].join("; ") || "no provider can make it";
  if (full.length > 0) return err({ kind: "busy", reason });
  const pause = Math.min(...pauses);
  if (pauses.length > 0) return err({ kind: "busy", reason, ...(pause > 0 && { retryAfterMilliseconds: pause }) });
  const isUnavailable = refusals.length > 0 && !anyRefuses;
  return err({ kind: "refused", reason, ...(isUnavailable && { cause: "provider_unavailable" }) });
};

/** The provider's own name of its first place to which the order could move; `undefined` if no slot is free. */
const freeSlotAt = async (
  provider: GenerationProvider,
  request: CreationRequest,
  move: (place: ProviderPlace) => Promise<boolean>,
): Promise<string | undefined> => {
  for (const place of provider.places()) {
    if (place.readiness === "down" || !place.canMake(request)) continue;
    if (await move(inChain(provider, place))) return place.name;
  }
  return undefined;
};

const accountOf = ({ name, account = name }: GenerationProvider): string => account;

/** A place of the provider under its name in the chain: `{provider}`, or `{provider}:{place}`. */
const inChain = <Place extends ProviderPlace>({ name }: GenerationProvider, place: Place): Place =>
  place.name === name ? place : { ...place, name: `${name}:${place.name}` };

/** The provider's own name of the place with this name in the chain; `undefined` if it is no place of the provider. */
const ownPlace = (provider: GenerationProvider, nameInChain: string | undefined): string | undefined =>
  provider.places().find((place) => inChain(provider, place).name === nameInChain)?.name;

const notConfigured = (upstreamTaskId: string): string =>
  `The provider of this task is not in PROVIDER any more: ${upstreamTaskId}`;
