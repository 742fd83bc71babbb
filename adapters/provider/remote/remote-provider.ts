import { err, ok, type Result } from "neverthrow";
import type { Clock } from "../../../application/ports/clock.js";
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
} from "../../../application/ports/generation-provider.js";
import type { TaskId } from "../../../domain/ids.js";
import { isReference } from "../../../domain/images/object-name.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { type Abilities, ALL_ABILITIES, admitAbilities } from "../../../domain/tasks/abilities.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import type { PublicFetch } from "../public-fetch.js";
import { unavailable } from "../sound-reference.js";
import { downloadResult } from "./answers/download-result.js";
import { jsonOf } from "./answers/read-answer.js";
import type { Answer } from "./calls/upstream-call.js";
import { type CancelCalls, correlationSeed, pathBelow, type Read, type RemoteDialect, type Report } from "./dialect.js";
import type { HostedImages } from "./images/reference-input.js";
import { type GivenAs, leadingPrompt } from "./leading-prompt.js";
import { ProviderApi, type ProviderApiParts } from "./provider-api.js";
import type { CheckFailure } from "./remote-options.js";
import type { ProviderSettings } from "./settings.js";

const SEARCHED_PAGES_MAX = 5;
/** Between this machine and the provider. A search begins that much earlier. */
const CLOCK_DIFFERENCE_MILLISECONDS_MAX = 5 * 60 * 1000;
const NOT_CERTAIN = "the task was not found, but the provider does not list all tasks with their seeds";

export type RemoteProviderParts = ProviderApiParts & {
  readonly publicFetch: PublicFetch;
  readonly storage: HostedImages;
};

/** A generation provider behind HTTP. Its dialect has the differences between providers. */
export class RemoteProvider implements GenerationProvider {
  readonly name: string;
  readonly account: string;
  readonly callsPerSecond: number;
  private readonly concurrencyMax: number | undefined;
  private readonly dialect: RemoteDialect;
  private readonly settings: ProviderSettings;
  private readonly storage: HostedImages;
  private readonly publicFetch: PublicFetch;
  private readonly api: ProviderApi;
  /** For the start check and the search; the same as `api` unless the dialect has a `listBaseUrl`. */
  private readonly listApi: ProviderApi;
  readonly read: Read;
  private readonly clock: Clock;
  private readonly gracePeriod: GracePeriod;
  private readonly unknownStatuses: UnknownStatuses;
  private readonly warn: (message: string) => void;

  constructor(parts: RemoteProviderParts) {
    const { dialect, settings, storage, publicFetch, clock, warn } = parts;
    this.name = nameOf(dialect);
    this.account = dialect.name;
    this.warn = warn;
    this.concurrencyMax = settings.concurrencyMax ?? dialect.defaults.concurrencyMax;
    this.callsPerSecond = settings.callsPerSecond ?? dialect.defaults.callsPerSecond;
    this.dialect = dialect;
    this.settings = settings;
    this.storage = storage;
    this.publicFetch = publicFetch;
    this.api = new ProviderApi(parts);
    const { baseUrl, listBaseUrl = baseUrl } = dialect;
    this.listApi =
      listBaseUrl === baseUrl
        ? this.api
        : new ProviderApi({ ...parts, dialect: { ...dialect, baseUrl: listBaseUrl }, onCircuitChange: () => {} });
    this.read = this.api.read;
    this.clock = clock;
    this.gracePeriod = new GracePeriod(clock);
    this.unknownStatuses = new UnknownStatuses(warn);
  }

  places(): readonly PlaceWithReadiness[] {
    const { name, concurrencyMax, abilities } = this;
    const canMake = (request: CreationRequest) => admitAbilities(abilities, request).isOk();
    return [{ name, concurrencyMax, readiness: this.readiness(), canMake, abilities }];
  }

  private get abilities(): Abilities {
    return this.dialect.abilities?.() ?? ALL_ABILITIES;
  }

  readiness(): Readiness {
    return this.api.readiness();
  }

  nextPollMilliseconds(_: string, sinceSubmissionMilliseconds: number): number {
    return this.api.nextPollMilliseconds(sinceSubmissionMilliseconds);
  }

  checkRequest(request: CreationRequest): Result<void, InvalidRequest> {
    return admitAbilities(this.abilities, request);
  }

  /** Verifies API key and settings with the provider. Succeeds if no call of the provider can verify them. */
  async check(): Promise<Result<void, CheckFailure>> {
    return this.dialect.check?.(this.listApi.read) ?? ok(undefined);
  }

  /** A finished panorama of this service is there to be changed, if it comes alone. */
  private givenAs([url, ...others]: readonly string[]): GivenAs {
    const name = url === undefined || others.length > 0 ? undefined : this.storage.nameOf(url);
    return name === undefined || isReference(name) ? "separate" : "panorama";
  }

  async submit(order: GenerationOrder, submissionDeadline?: Date): Promise<Result<string, SubmissionFailure>> {
    const { webhookUrls, generationDeadlineMilliseconds } = this.settings;
    const creation = this.dialect.creation(order, {
      webhookUrl: webhookUrls?.of(order.taskId),
      deadlineSeconds: Math.ceil(generationDeadlineMilliseconds / 1000),
      promptFor: (request, givenAs = this.givenAs(request.imageUrls)) =>
        leadingPrompt(request, this.settings.promptTemplate, givenAs),
      storage: this.storage,
      read: this.read,
      readList: this.listApi.read,
      publicFetch: this.publicFetch,
      upload: this.api.upload,
    });
    const { traceparent } = order;
    const traced =
      traceparent === undefined ? creation : { ...creation, headers: { ...creation.headers, traceparent } };
    return (await this.api.create(traced, submissionDeadline)).andThen(({ body }) =>
      this.dialect.upstreamTaskIdOf(body),
    );
  }

  async poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>> {
    const answer = await this.read(this.dialect.pollPath(upstreamTaskId));
    if (answer.isOk() && answer.value.status === 404) {
      const reason = "the provider does not know the task";
      return this.judge(upstreamTaskId, { state: "uncertain", reason, duringGracePeriod: "running" });
    }
    const body = answer.andThen(jsonOf);
    if (body.isErr()) return err(body.error);
    const report = await this.dialect.reportOf(body.value, upstreamTaskId, this.read);
    return report.andThen((reported) => this.judge(upstreamTaskId, reported));
  }

  async search(taskId: TaskId, since: Date): Promise<Result<string | undefined, ProviderUnavailable>> {
    const { listSince, baseUrl, listBaseUrl = baseUrl } = this.dialect;
    const found = this.dialect.find?.(taskId, this.api.readWithRetry);
    if (found !== undefined) return found;
    const list = listSince?.(new Date(since.getTime() - CLOCK_DIFFERENCE_MILLISECONDS_MAX));
    if (list === undefined) return err(unavailable(`${this.name} has no list of tasks to search`));
    const wantedSeed = correlationSeed(taskId);
    let allSeedsKnown = true;
    let path: string | undefined = list.firstPath;
    for (let page = 0; page < SEARCHED_PAGES_MAX && path !== undefined; page += 1) {
      const answer: Result<Answer, ProviderUnavailable> = await this.listApi.readWithRetry(path);
      const listed = answer.andThen(jsonOf).andThen((body) => list.pageOf(body, page));
      if (listed.isErr()) return err(listed.error);
      const { tasks, nextUrl } = listed.value;
      const found = tasks.find(({ seed }) => seed === wantedSeed);
      if (found !== undefined) return ok(found.id);
      allSeedsKnown &&= listed.value.allSeedsKnown;
      if (nextUrl === undefined) return allSeedsKnown ? ok(undefined) : err(unavailable(NOT_CERTAIN));
      path = pathBelow(listBaseUrl, nextUrl);
    }
    return err(unavailable("the task is not among the newest ones of the provider"));
  }

  async download(temporaryUrl: string, upstreamTaskId: string): Promise<Result<GeneratedImage, DownloadFailure>> {
    const { resultHeaders } = this.dialect;
    return downloadResult(this.publicFetch, temporaryUrl, () => this.poll(upstreamTaskId), resultHeaders);
  }

  async cancel(upstreamTaskId: string): Promise<Result<Cancellation, ProviderUnavailable>> {
    const calls: CancelCalls = {
      read: this.read,
      confirm: (read, mayStillStop) => confirmStop(this.clock, read, mayStillStop),
      change: this.api.change,
    };
    return this.dialect.cancel?.(upstreamTaskId, calls) ?? ok("too_late");
  }

  async discard(upstreamTaskId: string): Promise<Result<void, ProviderUnavailable>> {
    const path = (await this.dialect.discardPath?.(upstreamTaskId, this.read)) ?? ok(undefined);
    if (path.isErr()) return err(path.error);
    return path.value === undefined ? ok(undefined) : this.api.delete(path.value);
  }

  /** Decides the progress. Begins or ends the grace period, and warns the operator about strange reports. */
  private judge(upstreamTaskId: string, report: Report): Result<Progress, ProviderUnavailable> {
    if (report.state === "uncertain") {
      if (this.gracePeriod.noteEarlyAnswer(upstreamTaskId) === "over")
        return ok({ state: "failed", reason: report.reason });
      return report.duringGracePeriod === "running" ? ok({ state: "running" }) : err(report.duringGracePeriod);
    }
    this.gracePeriod.reset(upstreamTaskId);
    if (report.state === "misunderstood") {
      this.warn(
        `${this.name} does not understand what it was sent, which is a fault of the adapter: ${report.reason}.`,
      );
      return ok({ state: "failed", reason: report.reason });
    }
    if (report.state !== "unknown") return ok(report);
    this.unknownStatuses.warnOnce(this.name, report.status);
    return ok({ state: "running" });
  }
}

/** A provider with several models is named with its model. */
export const nameOf = ({ name, model }: Pick<RemoteDialect, "name" | "model">): string =>
  model === undefined ? name : `${name}:${model}`;

const GRACE_MILLISECONDS = 60_000;
const KEPT_MILLISECONDS = 60 * 60 * 1000;

/**
 * For answers that may come too early: a task that is not found just after its creation, a success without an image.
 * Such an answer is final after 60 seconds without any other answer.
 */
class GracePeriod {
  private readonly clock: Clock;
  private readonly since = new Map<string, number>();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Call on every such answer. The first one begins the period. */
  noteEarlyAnswer(upstreamTaskId: string): "within" | "over" {
    const now = this.clock.now().getTime();
    const first = this.since.get(upstreamTaskId);
    if (first !== undefined) return now - first >= GRACE_MILLISECONDS ? "over" : "within";
    for (const [id, since] of this.since) if (now - since > KEPT_MILLISECONDS) this.since.delete(id);
    this.since.set(upstreamTaskId, now);
    return "within";
  }

  /** Call on every other answer. */
  reset(upstreamTaskId: string): void {
    this.since.delete(upstreamTaskId);
  }
}

const SHOWN_CHARACTERS_MAX = 40;

/** Warns the operator of each status that the provider does not document, once per status. */
class UnknownStatuses {
  private readonly warned = new Set<string>();
  private readonly warn: (message: string) => void;

  constructor(warn: (message: string) => void) {
    this.warn = warn;
  }

  warnOnce(provider: string, status: string): void {
    const shown = JSON.stringify(status.slice(0, SHOWN_CHARACTERS_MAX));
    if (this.warned.has(shown)) return;
    this.warned.add(shown);
    this.warn(`${provider} has an unknown status, ${shown}; its tasks count as running.`);
  }
}

/** Before each further look: five seconds together, because a customer waits for the answer. */
const PAUSES_MILLISECONDS = [250, 500, 1_000, 1_250, 2_000];

/** Reads a state until it is final for a cancellation, or the time is over. Resolves to the last one. */
const confirmStop = async <T>(
  clock: Pick<Clock, "sleep">,
  read: () => Promise<Result<T, ProviderUnavailable>>,
  mayStillStop: (state: T) => boolean,
): Promise<Result<T, ProviderUnavailable>> => {
  let state = await read();
  for (const milliseconds of PAUSES_MILLISECONDS) {
    if (state.isErr() || !mayStillStop(state.value)) break;
    await clock.sleep(milliseconds);
    state = await read();
  }
  return state;
};
