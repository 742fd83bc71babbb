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
import { type InvalidRequest, invalidRequest } from "../../../../domain/invalid-request.js";
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
import { type CheckFailure, checkedJson, misconfigured, unchecked } from "../start-check.js";
import type { WebhookUrls } from "../webhooks/webhook-urls.js";

/** Of a style that does not say it. */
const PROMPT_CHARACTERS_MAX = 2000;
/** Where a style may be listed: the documentation does not say whether the list of all leaves versions out. */
const STYLE_LISTS = ["", "?model_version=4", "?model_version=3", "?model_version=2"].map(
  (query) => `/skybox/styles${query}`,
);
const NEUTRAL_PROMPT = "a photorealistic panorama of the place in the picture";
/** The documentation and its users disagree about which end is strong; in the middle both are right. */
const INIT_STRENGTH = 0.5;
const SEARCHED_PAGES_MAX = 5;
const PAGE_SIZE = 100;
const DEFAULTS = { callsPerSecond: 10, pauseSeconds: 10 };
/** Of the Standard plan; Business has 2. */
const AT_ONCE_MAX = 1;

export type SkyboxSettings = ProviderSettings & {
  /** Selects the model as well. */
  readonly styleId: number;
};

const idSchema = z.union([z.number(), z.string().min(1)]).transform(String);
const stylesSchema = z.array(
  z.object({ id: idSchema, "max-char": z.coerce.number().int().min(1).optional().catch(undefined) }),
);
const createdSchema = z.object({ id: idSchema });
const refusalSchema = z.object({ error: z.unknown().refine(Boolean) });
const generationSchema = z.object({
  status: z.string(),
  file_url: z.string().nullish(),
  error_message: z.unknown().optional(),
});
/** The documentation wraps it in `request`, the Unity client also knows `imagine`, a creation gives it bare. */
const polledSchema = z.union([
  z.object({ request: generationSchema }).transform(({ request }) => request),
  z.object({ imagine: generationSchema }).transform(({ imagine }) => imagine),
  generationSchema,
]);
const listSchema = z.object({
  data: z.array(z.object({ id: idSchema, seed: z.number().nullish() })),
  has_more: z.boolean().optional(),
});

/**
 * Skybox AI by Blockade Labs: panoramas of 4096 or 8192 pixels, from a prompt and at most one picture. It has no field
 * for our mark, so the seed carries it.
 */
export class SkyboxProvider implements GenerationProvider {
  readonly name = "skybox";
  readonly concurrencyMax: number | undefined;
  private readonly api: ProviderApi;
  private readonly storage: ObjectStorage;
  private readonly publicFetch: PublicFetch;
  private readonly styleId: number;
  private readonly webhookUrls: WebhookUrls | undefined;
  private promptCharactersMax = PROMPT_CHARACTERS_MAX;
  private readonly gracePeriod: GracePeriod;
  private readonly unknownStatuses: UnknownStatuses;

  constructor(
    settings: SkyboxSettings,
    http: UpstreamHttp,
    publicFetch: PublicFetch,
    storage: ObjectStorage,
    clock: Clock,
    warn: (message: string) => void,
    onCircuitChange: (state: CircuitState) => void,
  ) {
    this.concurrencyMax = settings.concurrencyMax ?? AT_ONCE_MAX;
    this.styleId = settings.styleId;
    this.webhookUrls = settings.webhookUrls;
    const authorization = { "x-api-key": settings.apiKey };
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

  canMake({ prompt }: CreationRequest): Result<void, InvalidRequest> {
    const actual = [...(prompt ?? "")].length;
    return actual > this.promptCharactersMax
      ? err(invalidRequest("prompt", { name: "characters_max", max: this.promptCharactersMax, actual }))
      : ok(undefined);
  }

  /** Whether the provider takes our key and has our style; learns on the way how long a prompt of that style may be. */
  async check(): Promise<Result<void, CheckFailure>> {
    for (const path of STYLE_LISTS) {
      const answer = checkedJson(await this.api.read(path), "SKYBOX_API_KEY");
      if (answer.isErr()) return err(answer.error);
      const { data: styles } = stylesSchema.safeParse(answer.value);
      if (styles === undefined) return err(unchecked("the answer is not a list of styles"));
      const style = styles.find(({ id }) => id === String(this.styleId));
      if (style === undefined) continue;
      this.promptCharactersMax = style["max-char"] ?? PROMPT_CHARACTERS_MAX;
      return ok(undefined);
    }
    return err(
      misconfigured(
        `SKYBOX_STYLE_ID=${this.styleId}: the provider has no such style; set one of its list, GET /skybox/styles`,
      ),
    );
  }

  async submit(order: GenerationOrder): Promise<Result<string, SubmissionFailure>> {
    const created = await this.api.create("/skybox", () => this.inputOf(order));
    return created.andThen(({ body }) => {
      if (refusalSchema.safeParse(body).success) return err(refused("the answer is an error"));
      const { data } = createdSchema.safeParse(body);
      return data === undefined ? err(unclear("the answer has no task id")) : ok(data.id);
    });
  }

  async poll(upstreamTaskId: string): Promise<Result<Progress, ProviderUnavailable>> {
    const answer = await this.api.read(`/imagine/requests/${encodeURIComponent(upstreamTaskId)}`);
    if (answer.isOk() && answer.value.status === 404) {
      return ok(this.gracePeriod.progressAfter(upstreamTaskId, "the provider does not know the task"));
    }
    return answer.andThen(jsonOf).andThen((body) => {
      const { data } = polledSchema.safeParse(body);
      if (data === undefined) return err(unavailable("the answer is not a generation"));
      return ok(this.progressOf(upstreamTaskId, data));
    });
  }

  async search(taskId: TaskId): Promise<Result<string | undefined, ProviderUnavailable>> {
    const seed = correlationSeed(taskId);
    for (let page = 0; page < SEARCHED_PAGES_MAX; page += 1) {
      // What is called the offset is the number of a page.
      const answer = await this.api.readWithRetry(`/imagine/myRequests?order=DESC&limit=${PAGE_SIZE}&offset=${page}`);
      if (answer.isErr()) return err(answer.error);
      const { data: list } = listSchema.safeParse(answer.value);
      if (list === undefined) return err(unavailable("the answer is not a list of generations"));
      const found = list.data.find((generation) => generation.seed === seed);
      if (found !== undefined) return ok(found.id);
      if (list.has_more !== true) return ok(undefined);
    }
    return err(unavailable("the task is not among the newest ones of the provider"));
  }

  async download(
    temporaryUrl: string,
    upstreamTaskId: string,
  ): Promise<Result<GeneratedImage, ResultGone | ProviderUnavailable>> {
    return downloadResult(this.publicFetch, temporaryUrl, () => this.poll(upstreamTaskId));
  }

  private async inputOf({ taskId, request }: GenerationOrder): Promise<Result<unknown, string>> {
    const input = {
      prompt: request.prompt ?? NEUTRAL_PROMPT,
      skybox_style_id: this.styleId,
      seed: correlationSeed(taskId),
      ...(this.webhookUrls && { webhook_url: this.webhookUrls.of(taskId) }),
    };
    const [url] = request.imageUrls;
    if (url === undefined) return ok(input);
    const image = await referenceInput(this.storage, url, base64Canvas);
    return image.map((init_image) => ({ ...input, init_image, init_strength: INIT_STRENGTH }));
  }

  private progressOf(id: string, { status, file_url, error_message }: z.infer<typeof generationSchema>): Progress {
    if (status === "complete" && !file_url) return this.gracePeriod.progressAfter(id, "complete, but without an image");
    this.gracePeriod.settle(id);
    switch (status) {
      case "complete":
        return succeededWith(file_url ?? "");
      case "abort":
      case "error":
        return { state: "failed", reason: describeFailure(status, error_message) };
      case "pending":
      case "dispatched":
      case "processing":
        return { state: "running" };
      default:
        this.unknownStatuses.warnOnce(this.name, status);
        return { state: "running" };
    }
  }
}

const base64Canvas = async (bytes: Uint8Array): Promise<Result<string, string>> =>
  (await panoramaCanvas(bytes)).map((canvas) => canvas.toString("base64"));

const refused = (reason: string): SubmissionFailure => ({ kind: "refused", reason });
const unclear = (reason: string): SubmissionFailure => ({ kind: "unknown", reason });
