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
import type { InvalidRequest } from "../../../../domain/invalid-request.js";
import type { PixelSize, Resolution } from "../../../../domain/resolution.js";
import type { TaskId } from "../../../../domain/task-id.js";
import type { PublicFetch } from "../../public-fetch.js";
import { describeFailure } from "../answers/describe-failure.js";
import { downloadResult } from "../answers/download-result.js";
import { GracePeriod } from "../answers/grace-period.js";
import { succeededWith } from "../answers/succeeded-with.js";
import { UnknownStatuses } from "../answers/unknown-statuses.js";
import type { CircuitState } from "../calls/circuit-breaker.js";
import { jsonOf, ProviderApi, unavailable } from "../calls/provider-api.js";
import type { UpstreamHttp } from "../calls/upstream-http.js";
import { correlationSeed } from "../correlation-seed.js";
import { panoramaCanvas } from "../images/panorama-canvas.js";
import { referenceInput } from "../images/reference-input.js";
import type { ProviderSettings } from "../settings.js";
import { type CheckFailure, checkedJson, misconfigured } from "../start-check.js";
import type { WebhookUrls } from "../webhooks/webhook-urls.js";

/** The word that FLUX models of the platform's trainer are trained on, and what the picture is to be. */
const PROMPT_PREFIX = "TOK, 360 degree equirectangular panorama, seamless";
/** The largest 2:1 size that these models make; multiples of 16. */
const LARGEST: PixelSize = { widthPixels: 1440, heightPixels: 720 };
const SIZES: Record<Resolution, PixelSize> = {
  "1k": { widthPixels: 1024, heightPixels: 512 },
  "2k": LARGEST,
  "4k": LARGEST,
};
const CANCEL_AFTER_SECONDS_MIN = 5;
const SEARCHED_PAGES_MAX = 5;
const DEFAULTS = { callsPerSecond: 40, pauseSeconds: 30 };

export type ReplicateSettings = ProviderSettings & {
  /** After this time the provider ends a prediction by itself, so that one nobody waits for costs no more. */
  readonly generationDeadlineMilliseconds: number;
  /** `owner/name`, or `owner/name:version`. */
  readonly model: string;
};

const createdSchema = z.object({ id: z.string().min(1) });
const predictionSchema = z.object({
  status: z.string(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  data_removed: z.boolean().nullish(),
});
const listSchema = z.object({
  results: z.array(z.object({ id: z.string(), input: z.object({ seed: z.unknown().optional() }).nullish() })),
  next: z.string().nullish(),
});

/**
 * Replicate, with a FLUX.1 LoRA that the platform's trainer has made for panoramas: from a prompt and at most one
 * picture. The seed carries our mark.
 */
export class ReplicateProvider implements GenerationProvider {
  readonly name = "replicate";
  readonly concurrencyMax: number | undefined;
  private readonly api: ProviderApi;
  private readonly storage: ObjectStorage;
  private readonly publicFetch: PublicFetch;
  private readonly model: string;
  private readonly cancelAfterSeconds: number;
  private readonly webhookUrls: WebhookUrls | undefined;
  private readonly gracePeriod: GracePeriod;
  private readonly unknownStatuses: UnknownStatuses;

  constructor(
    settings: ReplicateSettings,
    http: UpstreamHttp,
    publicFetch: PublicFetch,
    storage: ObjectStorage,
    clock: Clock,
    warn: (message: string) => void,
    onCircuitChange: (state: CircuitState) => void,
  ) {
    this.concurrencyMax = settings.concurrencyMax;
    this.model = settings.model;
    this.webhookUrls = settings.webhookUrls;
    const deadlineSeconds = Math.ceil(settings.generationDeadlineMilliseconds / 1000);
    this.cancelAfterSeconds = Math.max(CANCEL_AFTER_SECONDS_MIN, deadlineSeconds);
    const authorization = { authorization: `Bearer ${settings.apiKey}` };
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

  canMake(): Result<void, InvalidRequest> {
    return ok(undefined);
  }

  /** Whether the provider takes our key and has our model. */
  async check(): Promise<Result<void, CheckFailure>> {
    const [name] = this.model.split(":");
    const answer = await this.api.read(`/models/${name}`);
    if (answer.isOk() && answer.value.status === 404) {
      return err(misconfigured(`REPLICATE_MODEL=${this.model}: the provider has no such model; set one that it has`));
    }
    return checkedJson(answer, "REPLICATE_API_KEY").map(() => undefined);
  }

  async submit(order: GenerationOrder): Promise<Result<string, SubmissionFailure>> {
    const headers = { "cancel-after": `${this.cancelAfterSeconds}s` };
    const webhook = this.webhookUrls?.of(order.taskId);
    const news = webhook === undefined ? {} : { webhook, webhook_events_filter: ["completed"] };
    const prepare = async () => (await this.inputOf(order)).map((input) => ({ version: this.model, input, ...news }));
    const created = await this.api.create("/predictions", prepare, headers);
    return created.andThen(({ body }) => {
      const { data } = createdSchema.safeParse(body);
      return data === undefined
        ? err<string, SubmissionFailure>({ kind: "unknown", reason: "the answer has no task id" })
        : ok(data.id);
    });
  }

  async poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>> {
    const answer = await this.api.read(`/predictions/${encodeURIComponent(upstreamTaskId)}`);
    if (answer.isOk() && answer.value.status === 404) {
      return ok(this.gracePeriod.progressAfter(upstreamTaskId, "the provider does not know the task"));
    }
    return answer.andThen(jsonOf).andThen((body) => {
      const { data } = predictionSchema.safeParse(body);
      if (data === undefined) return err(unavailable("the answer is not a prediction"));
      this.gracePeriod.settle(upstreamTaskId);
      return ok(this.progressOf(data));
    });
  }

  async search(taskId: TaskId): Promise<Result<string | undefined, ProviderUnavailable>> {
    const seed = correlationSeed(taskId);
    let path: string | undefined = "/predictions";
    for (let page = 0; page < SEARCHED_PAGES_MAX && path !== undefined; page += 1) {
      const answer: Result<unknown, ProviderUnavailable> = await this.api.readWithRetry(path);
      if (answer.isErr()) return err(answer.error);
      const { data: list } = listSchema.safeParse(answer.value);
      if (list === undefined) return err(unavailable("the answer is not a list of predictions"));
      const found = list.results.find(({ input }) => input?.seed === seed);
      if (found !== undefined) return ok(found.id);
      if (!list.next) return ok(undefined);
      path = this.api.pathOf(list.next);
    }
    return err(unavailable("the task is not among the newest ones of the provider"));
  }

  async download(
    temporaryUrl: string,
    upstreamTaskId: string,
  ): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>> {
    return downloadResult(this.publicFetch, temporaryUrl, () => this.poll(upstreamTaskId));
  }

  private async inputOf({ taskId, request }: GenerationOrder): Promise<Result<object, string>> {
    const { widthPixels, heightPixels } = SIZES[request.resolution];
    const input = {
      prompt: request.prompt === undefined ? PROMPT_PREFIX : `${PROMPT_PREFIX}, ${request.prompt}`,
      aspect_ratio: "custom",
      width: widthPixels,
      height: heightPixels,
      // Must be off for a size of one's own.
      go_fast: false,
      num_outputs: 1,
      output_format: "png",
      seed: correlationSeed(taskId),
    };
    const [url] = request.imageUrls;
    if (url === undefined) return ok(input);
    const image = await referenceInput(this.storage, url, canvasAsDataUri);
    return image.map((given) => ({ ...input, image: given }));
  }

  private progressOf({ status, output, error, data_removed }: z.infer<typeof predictionSchema>): Progress {
    switch (status) {
      case "succeeded": {
        const url: unknown = Array.isArray(output) ? output[0] : output;
        if (typeof url === "string") return succeededWith(url);
        const reason = data_removed === true ? "the result has been removed already" : "there is no result";
        return { state: "failed", reason };
      }
      case "failed":
      case "canceled":
      case "aborted":
        return { state: "failed", reason: describeFailure(status, error) };
      case "starting":
      case "processing":
        return { state: "running" };
      default:
        this.unknownStatuses.warnOnce(this.name, status);
        return { state: "running" };
    }
  }
}

/** On a canvas, because the result has the shape of the picture that is given. */
const canvasAsDataUri = async (bytes: Uint8Array): Promise<Result<string, string>> =>
  (await panoramaCanvas(bytes)).map((canvas) => `data:image/jpeg;base64,${canvas.toString("base64")}`);
