import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type {
  Cancellation,
  GenerationOrder,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import { admitAbilities } from "../../../../domain/tasks/abilities.js";
import { unavailable } from "../../sound-reference.js";
import { bodyIn, failedAs, jsonOf, meaningOf, nonEmpty, parseBody, succeededWith } from "../answers/read-answer.js";
import type { Answer } from "../calls/upstream-call.js";
import {
  type CancelCalls,
  type CreationContext,
  checkedJson,
  type ProviderAccess,
  pathBelow,
  type Read,
  type RemoteDialect,
  type Report,
  unchecked,
} from "../dialect.js";
import { baseUrlOf, headerSecret, openRemote } from "../open-remote.js";
import { type CheckFailure, type OpenProvider, REMOTE_DEFAULTS, type RemoteOptions } from "../remote-options.js";
import { type FalChoice, falChoice } from "./fal-choice.js";
import { falCause, falFailure } from "./fal-failure.js";
import { falInput } from "./fal-input.js";
import type { FalInputs } from "./fal-model.js";
import { requestsPath, requestsSince } from "./fal-requests.js";
import { falSignature } from "./fal-signature.js";
import { KnownModel } from "./known-model.js";

/** Options of fal. `apiKey` is required. */
export type FalOptions = RemoteOptions & {
  readonly apiKey: string;
  /**
   * By default `seedream-4.5`. Others are `gpt-image-2`, `gpt-image-2.5`, `flux-2`, `flux-3`, `hunyuan-world` (from one
   * image only), `flux-lora` (from text only, with `loraUrl`), and the id of any endpoint whose schema has a 2:1 size.
   */
  readonly model?: string | undefined;
  /** The id of the endpoint for requests with reference images, if `model` is the id of the one for text. */
  readonly editModel?: string | undefined;
  /** https URL of the weights of a LoRA, for endpoints that take some. */
  readonly loraUrl?: string | undefined;
  /** For endpoints that have it. By default `medium`. */
  readonly quality?: "low" | "medium" | "high" | "xhigh" | "max" | undefined;
  /**
   * `separate`, the default: the model gets every reference image as it is. `canvas`: they are projected into one
   * panorama, and a model with a mask paints the rest of it.
   */
  readonly references?: "separate" | "canvas" | undefined;
  /** The queue. By default `https://queue.fal.run`. */
  readonly baseUrl?: string | undefined;
  /** The interface that lists requests and models. By default `https://api.fal.ai/v1`. */
  readonly platformUrl?: string | undefined;
  /** The public keys that verify webhooks; the first URL that answers is used. Default: fal's URLs. */
  readonly jwksUrls?: readonly string[] | undefined;
};

/** Opens fal. Calls nothing yet: see `check`. Throws if an option cannot be right. */
export const falProvider = (options: FalOptions): OpenProvider => {
  const { fal: defaults } = REMOTE_DEFAULTS;
  const { baseUrl = defaults.baseUrl, platformUrl = defaults.platformUrl, jwksUrls = defaults.jwksUrls } = options;
  const choice = falChoice(options);
  if (choice.isErr()) throw new TypeError(`${choice.error}.`);
  const apiKey = headerSecret("apiKey", options.apiKey);
  const urls = { baseUrl: baseUrlOf(baseUrl), platformUrl: baseUrlOf(platformUrl), jwksUrls };
  const { promptTemplate } = options;
  return openRemote(fal({ apiKey, choice: choice.value, promptTemplate, ...urls }), options, apiKey);
};

const createdSchema = z.object({
  request_id: nonEmpty,
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

/** Only the model or the machine that ran it writes this; a gateway in between does not. */
const modelErrorSchema = z.union([z.object({ detail: z.array(z.unknown()) }), z.object({ error_type: z.string() })]);

/** Statuses of a result that say something about our key, credit or call rate, and nothing about the generation. */
const NOT_ABOUT_THE_RESULT = new Set([401, 402, 403, 408, 429]);

type FalSettings = ProviderAccess & {
  readonly choice: FalChoice;
  /** Replaces the template of leading-prompt.ts. */
  readonly promptTemplate?: string | undefined;
  /** The interface that lists requests and models. Without a slash at its end. */
  readonly platformUrl: string;
  /** URLs of the keys with which fal signs webhooks. The first that answers is used. */
  readonly jwksUrls: readonly string[];
};

/** fal's queue. Our mark is the seed, with a model that has one; otherwise a lost submission cannot be found again. */
export const fal = ({ apiKey, baseUrl, platformUrl, choice, promptTemplate, jwksUrls }: FalSettings): RemoteDialect => {
  const model = new KnownModel(choice, promptTemplate);
  return {
    name: "fal",
    model: choice.name,
    baseUrl,
    listBaseUrl: platformUrl,
    authorization: { authorization: `Key ${apiKey}` },
    // `concurrencyMax`: limit of a new account; it rises with purchases.
    defaults: { callsPerSecond: 20, pauseSeconds: 10, concurrencyMax: 2 },

    abilities: () => model.abilities,

    check: (read) => check(model, read),

    creation: (order, context) => ({
      path: `/${model.endpointId(order.request.imageUrls.length)}${webhookQuery(context.webhookUrl)}`,
      // A request that has not started by then is dropped by the provider and not billed.
      headers: { "x-fal-request-timeout": String(context.deadlineSeconds) },
      body: () => bodyOf(model, choice, order, context),
    }),

    causeOf: ({ body }) => falCause(body),
    upstreamTaskIdOf: (body) => createdPathsIn(body, baseUrl),
    pollPath: (upstreamTaskId) => `${pathsIn(upstreamTaskId).status}?logs=0`,
    reportOf: async (body, upstreamTaskId, read) => {
      const report = await reportOf(body, upstreamTaskId, read);
      return choice.references === "canvas" ? report.map(withoutImageFault) : report;
    },
    cancel,
    listSince(since) {
      const [first, ...others] = model.endpointIdsWithSeed;
      return first === undefined ? undefined : requestsSince(platformUrl, [first, ...others], since);
    },
    signatureOf: (http, clock) => falSignature(jwksUrls, http, clock),
  };
};

const webhookQuery = (webhookUrl: string | undefined): string =>
  webhookUrl === undefined ? "" : `?${new URLSearchParams({ fal_webhook: webhookUrl })}`;

const check = async (model: KnownModel, read: Read): Promise<Result<void, CheckFailure>> => {
  const answer = await read(requestsPath(model.anyEndpointId, { limit: "1" }));
  // A key may create without being allowed to list requests: only 401 means that it is not accepted. Models are public.
  const isForbidden = answer.isOk() && answer.value.status === 403;
  const key = isForbidden ? err(unchecked(meaningOf(answer.value))) : checkedJson(answer, "FAL_API_KEY");
  if (key.isErr() && !isForbidden) return err(key.error);
  return (await model.check(read)).andThen(() => key.map(() => undefined));
};

const bodyOf = async (
  model: KnownModel,
  choice: FalChoice,
  order: GenerationOrder,
  context: CreationContext,
): Promise<Result<FalInputs, string | SubmissionFailure>> => {
  // If fal could not be reached at the start, the schemas are read now: nothing is sent without them.
  const found = await model.find(context.readList);
  if (found.isErr()) return err(found.error.reason);
  // A request that was admitted before the schemas were known may have too many images.
  const admitted = admitAbilities(model.abilities, order.request);
  return admitted.isErr()
    ? err(`the model cannot keep the ${admitted.error.field} of the request`)
    : falInput(found.value, choice, order, context);
};

/** The paths of status and result, as fal gives them: they leave out a part of the model's name. */
const createdPathsIn = (body: unknown, baseUrl: string): Result<string, SubmissionFailure> => {
  const { data } = createdSchema.safeParse(body);
  if (data === undefined) return err({ kind: "unknown", reason: "the answer has no task id or URLs" });
  const paths = [pathBelow(baseUrl, data.status_url), pathBelow(baseUrl, data.response_url)];
  return paths.every((path) => path !== undefined && !path.includes(" "))
    ? ok(paths.join(" "))
    : err({ kind: "unknown", reason: "the task's URLs are not below FAL_BASE_URL" });
};

const reportOf = async (
  body: unknown,
  upstreamTaskId: string,
  read: Read,
): Promise<Result<Report, ProviderUnavailable>> => {
  const polled = parseBody(statusSchema, "a status", body);
  if (polled.isErr()) return err(polled.error);
  const { status, error, error_type } = polled.value;
  switch (status) {
    case "COMPLETED":
      if (error || error_type) return ok(falFailure("COMPLETED with an error", polled.value));
      return (await read(pathsIn(upstreamTaskId).result)).andThen(resultReport);
    case "IN_QUEUE":
    case "IN_PROGRESS":
      return ok({ state: "running" });
    default:
      return ok({ state: "unknown", status });
  }
};

/** The only image that the model got is a canvas. */
const withoutImageFault = (report: Report): Report =>
  report.state === "failed" ? { ...report, imageIndex: undefined, imageProblem: undefined } : report;

/** Only while it waits in the queue. The answer to the call does not say whether it has or will have an effect. */
const cancel = async (
  upstreamTaskId: string,
  { read, confirm, change }: CancelCalls,
): Promise<Result<Cancellation, ProviderUnavailable>> => {
  const { status, result } = pathsIn(upstreamTaskId);
  const before = queueStatusOf(await read(`${status}?logs=0`));
  if (before.isErr() || before.value.status !== "IN_QUEUE") return before.map(cancellationOf);
  const answer = await change("PUT", `${result}/cancel`);
  if (answer.isErr()) return err(answer.error);
  if (CANNOT_CANCEL.has(answer.value.status)) return ok("too_late");
  if (answer.value.status >= 300) return err(unavailable(meaningOf(answer.value)));
  const after = await confirm(
    async () => queueStatusOf(await read(`${status}?logs=0`)),
    (now) => now.status === "IN_QUEUE" || now.status === "IN_PROGRESS",
  );
  return after.map(cancellationOf);
};

/** The request has completed already, or does not exist. */
const CANNOT_CANCEL = new Set([400, 404]);

type QueueStatus = z.infer<typeof statusSchema>;

const queueStatusOf = (answer: Result<Answer, ProviderUnavailable>): Result<QueueStatus, ProviderUnavailable> =>
  bodyIn(answer, statusSchema, "a status");

/** A canceled request is `COMPLETED` as well. It is not billed. */
const cancellationOf = ({ status, error_type }: QueueStatus): Cancellation =>
  status === "COMPLETED" && error_type === "client_cancelled" ? "canceled" : "too_late";

const pathsIn = (upstreamTaskId: string): { readonly status: string; readonly result: string } => {
  const [status = "", result = ""] = upstreamTaskId.split(" ");
  return { status, result };
};

/** fal says `COMPLETED` of failures as well; then the result has the status with which the model failed. */
const resultReport = (answer: Answer): Result<Report, ProviderUnavailable> => {
  const { status, body } = answer;
  const failed = falFailure(`COMPLETED with status ${status}`, body);
  if ((status >= 500 || status === 404) && !modelErrorSchema.safeParse(body).success) {
    // Either the model or a gateway in between wrote it.
    return ok({ state: "uncertain", reason: failed.reason, duringGracePeriod: unavailable(meaningOf(answer)) });
  }
  if (NOT_ABOUT_THE_RESULT.has(status)) return err(unavailable(meaningOf(answer)));
  if (status >= 400) return ok(failed);
  return jsonOf(answer).map((json): Report => {
    const { data } = resultSchema.safeParse(json);
    if (data === undefined) return { state: "failed", reason: "the result has no image", cause: "unusable_result" };
    if ("blackened" in data && data.blackened) return failedAs("COMPLETED with an error", "nsfw");
    return succeededWith(data.image.url);
  });
};
