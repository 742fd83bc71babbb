import { err, type Result } from "neverthrow";
import * as z from "zod";
import type {
  Cancellation,
  GenerationOrder,
  Progress,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import { type Abilities, ALL_ABILITIES, PROMPT_CHARACTERS_MAX } from "../../../../domain/tasks/abilities.js";
import { bodyIn, createdIn, failedAs, nonEmpty, parseBody, succeededWith } from "../answers/read-answer.js";
import type { Answer } from "../calls/upstream-call.js";
import type { CancelCalls, CreationContext, ProviderAccess, RemoteDialect, Report, TaskPages } from "../dialect.js";
import { leadingCharacters } from "../leading-prompt.js";
import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { type OpenProvider, REMOTE_DEFAULTS, type RemoteOptions } from "../remote-options.js";
import type { ModelInputs } from "./model-inputs.js";
import { LORA_PREFIX_CHARACTERS, predictionInput } from "./prediction-input.js";
import { ReplicateModel } from "./replicate-model.js";
import { replicateSignature } from "./replicate-signature.js";

/** Options of Replicate. Only `apiKey` is required. */
export type ReplicateOptions = RemoteOptions & {
  readonly apiKey: string;
  /**
   * `owner/name`, or `owner/name:version`. Default: `bytedance/seedream-4`. The model must accept `prompt`, `width`
   * and `height`. If it accepts a list of image URLs, up to three reference images are used.
   */
  readonly model?: string | undefined;
  /** Default: `https://api.replicate.com/v1`. */
  readonly baseUrl?: string | undefined;
};

/**
 * Creates a provider for one Replicate model. Sends nothing: `check` or the first creation makes the first call.
 * Throws for an invalid option.
 */
export const replicateProvider = (options: ReplicateOptions): OpenProvider => {
  const { replicate: defaults } = REMOTE_DEFAULTS;
  const { model = defaults.model, baseUrl = defaults.baseUrl } = options;
  const apiKey = headerSecret("apiKey", options.apiKey);
  return openRemote(
    replicate({ apiKey, baseUrl: baseUrlOf(baseUrl), model, promptTemplate: options.promptTemplate }),
    options,
    apiKey,
  );
};

const CANCEL_AFTER_SECONDS_MIN = 5;
const createdSchema = z.object({ id: nonEmpty });
const predictionSchema = z.object({
  status: z.string(),
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  data_removed: z.boolean().nullish(),
});
const listSchema = z.object({
  results: z.array(
    z.object({ id: z.string(), input: z.looseObject({ seed: z.unknown().optional() }).nullish().catch(undefined) }),
  ),
  next: z.string().nullish(),
});

/** `model` is `owner/name` or `owner/name:version`. */
type ReplicateSettings = ProviderAccess & {
  readonly model: string;
  readonly promptTemplate?: string | undefined;
};

/**
 * Dialect of Replicate. Works with models whose schema accepts width and height, such as seedream-4, flux-2-pro and
 * FLUX.1 LoRAs. If the model accepts a seed, the seed identifies the task.
 */
export const replicate = ({ apiKey, baseUrl, model: name, promptTemplate }: ReplicateSettings): RemoteDialect => {
  const model = new ReplicateModel(name);
  const templateCharacters = leadingCharacters(promptTemplate);
  return {
    name: "replicate",
    model: model.name,
    baseUrl,
    authorization: { authorization: `Bearer ${apiKey}` },
    defaults: { callsPerSecond: 40, pauseSeconds: 30, concurrencyMax: undefined },

    // Until the schema is read, all requests are accepted. `predictionInput` checks them before anything is sent.
    abilities: () => (model.known === undefined ? ALL_ABILITIES : abilitiesOf(model.known.inputs, templateCharacters)),

    /** Checks the API key by reading the model. */
    check: async (read) => (await model.find(read)).map(() => undefined),

    creation: (order, context) => ({
      path: "/predictions",
      headers: { "cancel-after": `${Math.max(CANCEL_AFTER_SECONDS_MIN, context.deadlineSeconds)}s` },
      body: () => buildPrediction(model, order, context),
    }),

    upstreamTaskIdOf: (body) => createdIn(createdSchema, "task id", body).map(({ id }) => id),

    pollPath: predictionPath,
    reportOf,
    cancel,
    // A lost prediction can only be found by its seed.
    listSince: (since) => (model.known?.inputs.hasSeed === false ? undefined : predictionsSince(since)),
    signatureOf: (http, clock) => replicateSignature({ apiKey, baseUrl }, http, clock),
  };
};

const abilitiesOf = ({ references, promptCharactersMax }: ModelInputs, templateCharacters: number): Abilities => {
  const imagesMax = { list: references.kind === "list" ? references.max : 0, canvas: 1, none: 0 }[references.kind];
  const ours = references.kind === "canvas" ? LORA_PREFIX_CHARACTERS : templateCharacters;
  return {
    imagesMin: 0,
    imagesMax,
    promptCharactersMax: Math.min(PROMPT_CHARACTERS_MAX, Math.max(1, promptCharactersMax - ours)),
  };
};

const buildPrediction = async (
  model: ReplicateModel,
  order: GenerationOrder,
  context: CreationContext,
): Promise<Result<unknown, string | SubmissionFailure>> => {
  // Looks up the model if the check at startup failed.
  const found = await model.find(context.read);
  if (found.isErr()) return err(found.error.reason);
  const { version, inputs } = found.value;
  const { webhookUrl } = context;
  const webhook = webhookUrl === undefined ? {} : { webhook: webhookUrl, webhook_events_filter: ["completed"] };
  const input = await predictionInput(inputs, order, context);
  return input.map((given) => ({ version, input: given, ...webhook }));
};

const predictionPath = (upstreamTaskId: string): string => `/predictions/${encodeURIComponent(upstreamTaskId)}`;

const reportOf = (body: unknown): Result<Report, ProviderUnavailable> =>
  parseBody(predictionSchema, "a prediction", body).map(({ status, output, error, data_removed }): Report => {
    switch (status) {
      case "succeeded":
        return resultOf(output, data_removed === true);
      case "failed":
        return failedAs(status, error);
      case "canceled": // `cancel-after` stopped a running prediction
        return { cause: "deadline_passed", ...failedAs(status, error) };
      case "aborted": // canceled before it started
        return { cause: "never_started", ...failedAs(status, error) };
      case "starting":
      case "processing":
        return { state: "running" };
      default:
        return { state: "unknown", status };
    }
  });

/** Cancels a prediction only while it is `starting`. One that is `processing` is billed, so it goes on. */
const cancel = async (
  upstreamTaskId: string,
  { read, confirm, change }: CancelCalls,
): Promise<Result<Cancellation, ProviderUnavailable>> => {
  const path = predictionPath(upstreamTaskId);
  const before = statusOf(await read(path));
  if (before.isErr() || before.value !== "starting") return before.map(cancellationOf);
  const answer = statusOf(await change("POST", `${path}/cancel`));
  if (answer.isErr() || answer.value !== "starting") return answer.map(cancellationOf);
  const after = await confirm(
    async () => statusOf(await read(path)),
    (status) => status === "starting",
  );
  return after.map(cancellationOf);
};

const predictionsSince = (since: Date): TaskPages => ({
  firstPath: `/predictions?${new URLSearchParams({ created_after: since.toISOString() })}`,
  pageOf: (body) =>
    parseBody(listSchema, "a list of predictions", body).map(({ results, next }) => ({
      tasks: results.map(({ id, input }) => ({ id, seed: input?.seed })),
      nextUrl: next || undefined,
      // False if inputs are missing: Replicate deletes them after an hour.
      allSeedsKnown: results.every(({ input }) => Object.keys(input ?? {}).length > 0),
    })),
});

const statusOf = (answer: Result<Answer, ProviderUnavailable>): Result<string, ProviderUnavailable> =>
  bodyIn(answer, predictionSchema, "a prediction").map(({ status }) => status);

/** Only `aborted` proves that nothing was billed. Every other status counts as too late: the next poll reads it. */
const cancellationOf = (status: string): Cancellation => (status === "aborted" ? "canceled" : "too_late");

const resultOf = (output: unknown, removed: boolean): Progress => {
  const url: unknown = Array.isArray(output) ? output[0] : output;
  if (typeof url === "string") return succeededWith(url);
  return {
    state: "failed",
    cause: "unusable_result",
    reason: removed ? "Replicate has deleted the result already" : "there is no result",
  };
};
