import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type {
  Cancellation,
  GenerationOrder,
  ProviderUnavailable,
  SubmissionFailure,
} from "../../../../application/ports/generation-provider.js";
import { admitAbilities } from "../../../../domain/tasks/abilities.js";
import { unavailable } from "../../unavailable.js";
import { jsonOf, nonEmpty, parseBody } from "../answers/body.js";
import { failedAs } from "../answers/failed-as.js";
import { meaningOf } from "../answers/meaning-of.js";
import { succeededWith } from "../answers/succeeded-with.js";
import type { Answer } from "../calls/upstream-http.js";
import type { CancelCalls, CreationContext, Dialect, ProviderAccess, Read, Report } from "../dialect.js";
import { pathBelow } from "../path-below.js";
import type { CheckFailure } from "../remote-options.js";
import { checkedJson, unchecked } from "../start-check.js";
import type { FalChoice } from "./fal-choice.js";
import { falCause, falFailure } from "./fal-failure.js";
import { falInput } from "./fal-input.js";
import type { FalInputs } from "./fal-model.js";
import { requestsPath, requestsSince } from "./fal-requests.js";
import { falSignature } from "./fal-signature.js";
import { KnownModel } from "./known-model.js";

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

export type FalSettings = ProviderAccess & {
  readonly choice: FalChoice;
  /** Replaces the one of leading-prompt.ts. */
  readonly promptTemplate?: string | undefined;
  /** The interface that lists requests and models. Without a slash at its end. */
  readonly platformUrl: string;
  /** Where fal publishes the keys with which it signs webhooks; the first that answers is used. */
  readonly jwksUrls: readonly string[];
};

/** fal's queue. Our mark is the seed, with a model that has one; otherwise a lost submission cannot be found again. */
export const fal = ({ apiKey, baseUrl, platformUrl, choice, promptTemplate, jwksUrls }: FalSettings): Dialect => {
  const model = new KnownModel(choice, promptTemplate);
  return {
    name: "fal",
    model: choice.name,
    baseUrl,
    listBaseUrl: platformUrl,
    authorization: { authorization: `Key ${apiKey}` },
    // `concurrencyMax` is that of a new account; it rises with purchases.
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
  // What was admitted before the schemas were known may be too much.
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

/** It has completed already, or there is no such request. */
const CANNOT_CANCEL = new Set([400, 404]);

type QueueStatus = z.infer<typeof statusSchema>;

const queueStatusOf = (answer: Result<Answer, ProviderUnavailable>): Result<QueueStatus, ProviderUnavailable> =>
  answer.andThen(jsonOf).andThen((body) => parseBody(statusSchema, "a status", body));

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
