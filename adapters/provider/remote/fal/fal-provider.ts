import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import type { Clock } from "../../../../application/ports/clock.js";
import type {
  GeneratedImage,
  GenerationOrder,
  GenerationProvider,
  Progress,
  ProviderUnavailable,
  Readiness,
  ResultGone,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import type { ObjectStorage } from "../../../../application/ports/object-storage.js";
import type { CreationRequest } from "../../../../domain/creation-request.js";
import type { InvalidRequest } from "../../../../domain/invalid-request.js";
import type { PublicFetch } from "../../public-fetch.js";
import { describeFailure } from "../answers/describe-failure.js";
import { downloadResult } from "../answers/download-result.js";
import { GracePeriod } from "../answers/grace-period.js";
import { succeededWith } from "../answers/succeeded-with.js";
import { UnknownStatuses } from "../answers/unknown-statuses.js";
import type { CircuitState } from "../calls/circuit-breaker.js";
import { jsonOf, meaningOf, ProviderApi, unavailable } from "../calls/provider-api.js";
import type { Answer, UpstreamHttp } from "../calls/upstream-http.js";
import type { ProviderSettings } from "../settings.js";
import type { WebhookUrls } from "../webhooks/webhook-urls.js";
import { type FalModel, falInput, falModelCanMake } from "./fal-models.js";

const DEFAULTS = { callsPerSecond: 20, pauseSeconds: 10 };
/** Of a new account; it rises with purchases. */
const AT_ONCE_MAX = 2;

export type FalSettings = ProviderSettings & {
  /** What has not started by then is given up by the provider, so that it is not paid for. */
  readonly generationDeadlineMilliseconds: number;
  readonly model: FalModel;
};

const createdSchema = z.object({
  request_id: z.string().min(1),
  status_url: z.string(),
  response_url: z.string(),
});
const statusSchema = z.object({
  status: z.string(),
  error: z.unknown().optional(),
  error_type: z.unknown().optional(),
});
const image = z.object({ url: z.string() });
const resultSchema = z.union([
  z.object({ image }),
  z
    .object({ images: z.tuple([image], image), has_nsfw_concepts: z.array(z.boolean()).nullish() })
    .transform(({ images: [first], has_nsfw_concepts }) => ({
      image: first,
      blackened: has_nsfw_concepts?.[0] === true,
    })),
]);

/** What the model itself, or the machine that ran it, answered: nothing on the way there writes this. */
const modelErrorSchema = z.union([z.object({ detail: z.array(z.unknown()) }), z.object({ error_type: z.string() })]);

/** Of a result that cannot be fetched now: our key, our pace or the way there, not the generation. */
const NOT_THE_RESULTS_OWN = new Set([401, 402, 403, 408, 429]);

/** fal's queue. It keeps no mark of ours and has no list of tasks, so a lost submission cannot be found again. */
export class FalProvider implements GenerationProvider {
  readonly name = "fal";
  readonly concurrencyMax: number | undefined;
  private readonly api: ProviderApi;
  private readonly storage: ObjectStorage;
  private readonly publicFetch: PublicFetch;
  private readonly model: FalModel;
  private readonly startWithinSeconds: number;
  private readonly webhookUrls: WebhookUrls | undefined;
  private readonly gracePeriod: GracePeriod;
  private readonly unknownStatuses: UnknownStatuses;

  constructor(
    settings: FalSettings,
    http: UpstreamHttp,
    publicFetch: PublicFetch,
    storage: ObjectStorage,
    clock: Clock,
    warn: (message: string) => void,
    onCircuitChange: (state: CircuitState) => void,
  ) {
    this.concurrencyMax = settings.concurrencyMax ?? AT_ONCE_MAX;
    this.model = settings.model;
    this.webhookUrls = settings.webhookUrls;
    this.startWithinSeconds = Math.ceil(settings.generationDeadlineMilliseconds / 1000);
    const authorization = { authorization: `Key ${settings.apiKey}` };
    this.api = new ProviderApi(http, clock, settings, { ...DEFAULTS, authorization }, onCircuitChange);
    this.publicFetch = publicFetch;
    this.storage = storage;
    this.gracePeriod = new GracePeriod(clock);
    this.unknownStatuses = new UnknownStatuses(warn);
  }

  readiness(): Readiness {
    return this.api.readiness();
  }

  nextPollMilliseconds(_: string, sinceSubmissionMilliseconds: number): number {
    return this.api.nextPollMilliseconds(sinceSubmissionMilliseconds);
  }

  canMake(request: CreationRequest): Result<void, InvalidRequest> {
    return falModelCanMake(this.model, request);
  }

  /** The upstream task id is the paths of status and result as fal gives them: they leave out parts of the model's name. */
  async submit({ taskId, request }: GenerationOrder): Promise<Result<string, SubmissionFailure>> {
    const news = this.webhookUrls && `?${new URLSearchParams({ fal_webhook: this.webhookUrls.of(taskId) })}`;
    const headers = { "x-fal-request-timeout": String(this.startWithinSeconds) };
    const prepare = () => falInput(this.model, request, this.storage);
    const created = await this.api.create(`/${this.model.id}${news ?? ""}`, prepare, headers);
    return created.andThen(({ body }) => {
      const { data } = createdSchema.safeParse(body);
      if (data === undefined) return err(unclear("the answer has no task id or addresses"));
      const paths = [this.api.pathOf(data.status_url), this.api.pathOf(data.response_url)];
      return paths.every((path) => path !== undefined && !path.includes(" "))
        ? ok(paths.join(" "))
        : err(unclear("the task's addresses are not below FAL_BASE_URL"));
    });
  }

  async poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>> {
    const [statusPath = "", responsePath = ""] = upstreamTaskId.split(" ");
    const answer = await this.api.read(`${statusPath}?logs=0`);
    if (answer.isOk() && answer.value.status === 404) {
      return ok(this.gracePeriod.progressAfter(upstreamTaskId, "the provider does not know the task"));
    }
    const body = answer.andThen(jsonOf);
    if (body.isErr()) return err(body.error);
    const { data } = statusSchema.safeParse(body.value);
    if (data === undefined) return err(unavailable("the answer is not a status"));
    switch (data.status) {
      case "COMPLETED":
        if (data.error || data.error_type) return ok(failed(data));
        return (await this.api.read(responsePath)).andThen((result) => this.resultOf(upstreamTaskId, result));
      case "IN_QUEUE":
      case "IN_PROGRESS":
        break;
      default:
        this.unknownStatuses.warnOnce(this.name, data.status);
    }
    this.gracePeriod.settle(upstreamTaskId);
    return ok({ state: "running" });
  }

  async search(): Promise<Result<string | undefined, ProviderUnavailable>> {
    return err(unavailable("fal has no list of tasks to search"));
  }

  async download(
    temporaryUrl: string,
    upstreamTaskId: string,
  ): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>> {
    return downloadResult(this.publicFetch, temporaryUrl, () => this.poll(upstreamTaskId));
  }

  /** The result replays the model's own status; `COMPLETED` is said of failures as well. */
  private resultOf(id: string, answer: Answer): Result<Progress, ProviderUnavailable> {
    const { status } = answer;
    if ((status >= 500 || status === 404) && !modelErrorSchema.safeParse(answer.body).success) {
      // From the model or from something on the way: believed when it stays.
      return this.gracePeriod.believed(id) ? ok(failed(answer.body, status)) : err(unavailable(meaningOf(answer)));
    }
    if (NOT_THE_RESULTS_OWN.has(status)) return err(unavailable(meaningOf(answer)));
    if (status >= 400) return ok(failed(answer.body, status));
    return jsonOf(answer).andThen((body) => {
      this.gracePeriod.settle(id);
      const { data } = resultSchema.safeParse(body);
      if (data === undefined) return ok<Progress>({ state: "failed", reason: "the result has no image" });
      if ("blackened" in data && data.blackened) return ok<Progress>(failed("nsfw"));
      return ok(succeededWith(data.image.url));
    });
  }
}

const unclear = (reason: string): SubmissionFailure => ({ kind: "unknown", reason });

const failed = (body: unknown, status?: number): Progress => ({
  state: "failed",
  reason: describeFailure(status === undefined ? "COMPLETED with an error" : `COMPLETED with status ${status}`, body),
});
