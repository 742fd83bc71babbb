import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import type { Cancellation, ProviderUnavailable } from "../../../../application/ports/generation-provider.js";
import { unavailable } from "../../unavailable.js";
import { jsonOf, parseBody } from "../answers/body.js";
import { failedAs } from "../answers/failed-as.js";
import { meaningOf } from "../answers/meaning-of.js";
import { nonEmpty } from "../answers/non-empty.js";
import { succeededWith } from "../answers/succeeded-with.js";
import type { Answer } from "../calls/upstream-http.js";
import type { Dialect, ProviderAccess, Report, TaskList } from "../dialect.js";
import { pathBelow } from "../path-below.js";
import { checkedJson, unchecked } from "../start-check.js";
import { type FalModel, falInput, falModelCanMake, falModelHasSeed } from "./fal-models.js";
import { falSignature } from "./fal-signature.js";

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

const listSchema = z.object({
  items: z.array(
    z.object({
      request_id: z.string(),
      json_input: z.object({ seed: z.unknown().optional() }).optional().catch(undefined),
    }),
  ),
  next_cursor: z.string().nullish(),
});
const PAGE_SIZE = 100;

export type FalSettings = ProviderAccess & {
  readonly model: FalModel;
  /** The interface that lists requests. Without a slash at its end. */
  readonly platformUrl: string;
  /** Where fal publishes the keys with which it signs webhooks; the first that answers is used. */
  readonly jwksUrls: readonly string[];
};

/** fal's queue. Our mark is the seed, with a model that has one; otherwise a lost submission cannot be found again. */
export const fal = ({ apiKey, baseUrl, platformUrl, model, jwksUrls }: FalSettings): Dialect => ({
  name: "fal",
  baseUrl,
  listBaseUrl: platformUrl,
  authorization: { authorization: `Key ${apiKey}` },
  // `concurrencyMax` is that of a new account; it rises with purchases.
  defaults: { callsPerSecond: 20, pauseSeconds: 10, concurrencyMax: 2 },

  canMake: (request) => falModelCanMake(model, request),

  async check(read) {
    const answer = await read(requestsPath(model, { limit: "1" }));
    // A key may be allowed to create, but not to list requests: only 401 means that it is not accepted.
    if (answer.isOk() && answer.value.status === 403) return err(unchecked(meaningOf(answer.value)));
    return checkedJson(answer, "FAL_API_KEY").map(() => undefined);
  },

  creation: (order, { webhookUrl, deadlineSeconds, storage }) => ({
    path: `/${model.id}${webhookUrl === undefined ? "" : `?${new URLSearchParams({ fal_webhook: webhookUrl })}`}`,
    // A request that has not started by then is dropped by the provider and not billed.
    headers: { "x-fal-request-timeout": String(deadlineSeconds) },
    body: () => falInput(model, order, storage),
  }),

  /** The paths of status and result, as fal gives them: they leave out a part of the model's name. */
  upstreamTaskIdOf(body) {
    const { data } = createdSchema.safeParse(body);
    if (data === undefined) return err({ kind: "unknown", reason: "the answer has no task id or URLs" });
    const paths = [pathBelow(baseUrl, data.status_url), pathBelow(baseUrl, data.response_url)];
    return paths.every((path) => path !== undefined && !path.includes(" "))
      ? ok(paths.join(" "))
      : err({ kind: "unknown", reason: "the task's URLs are not below FAL_BASE_URL" });
  },

  pollPath: (upstreamTaskId) => `${pathsIn(upstreamTaskId).status}?logs=0`,

  async reportOf(body, upstreamTaskId, read) {
    const polled = parseBody(statusSchema, "a status", body);
    if (polled.isErr()) return err(polled.error);
    const { status, error, error_type } = polled.value;
    switch (status) {
      case "COMPLETED":
        if (error || error_type) return ok(failedAs("COMPLETED with an error", polled.value));
        return (await read(pathsIn(upstreamTaskId).result)).andThen(resultReport);
      case "IN_QUEUE":
      case "IN_PROGRESS":
        return ok({ state: "running" });
      default:
        return ok({ state: "unknown", status });
    }
  },

  /** Only while it waits in the queue. The answer to the call does not say whether it has or will have an effect. */
  async cancel(upstreamTaskId, { read, confirm, change }) {
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
  },

  ...(falModelHasSeed(model) && { listSince: (since) => requestsSince(platformUrl, model, since) }),

  signatureOf: (http, clock) => falSignature(jwksUrls, http, clock),
});

/** It has completed already, or there is no such request. */
const CANNOT_CANCEL = new Set([400, 404]);

type QueueStatus = z.infer<typeof statusSchema>;

const queueStatusOf = (answer: Result<Answer, ProviderUnavailable>): Result<QueueStatus, ProviderUnavailable> =>
  answer.andThen(jsonOf).andThen((body) => parseBody(statusSchema, "a status", body));

/** A canceled request is `COMPLETED` as well. It is not billed. */
const cancellationOf = ({ status, error_type }: QueueStatus): Cancellation =>
  status === "COMPLETED" && error_type === "client_cancelled" ? "canceled" : "too_late";

/** The platform lists requests by their end, and so only finished ones: a missing request may be running. */
const requestsSince = (platformUrl: string, model: FalModel, since: Date): TaskList => {
  const filters = { start: since.toISOString(), expand: "payloads", limit: String(PAGE_SIZE) };
  return {
    firstPath: requestsPath(model, filters),
    pageOf: (body) =>
      parseBody(listSchema, "a list of requests", body).map(({ items, next_cursor: cursor }) => ({
        tasks: items.map(({ request_id, json_input }) => ({
          id: upstreamTaskIdFor(`/${model.id}/requests/${encodeURIComponent(request_id)}`),
          seed: json_input?.seed,
        })),
        nextUrl: cursor ? platformUrl + requestsPath(model, { ...filters, cursor }) : undefined,
        allSeedsKnown: false,
      })),
  };
};

const requestsPath = ({ id }: FalModel, filters: Readonly<Record<string, string>>): string =>
  `/models/requests/by-endpoint?${new URLSearchParams({ endpoint_id: id, ...filters })}`;

/** As `upstreamTaskIdOf`, for a request at this path. */
const upstreamTaskIdFor = (path: string): string => `${path}/status ${path}`;

const pathsIn = (upstreamTaskId: string): { readonly status: string; readonly result: string } => {
  const [status = "", result = ""] = upstreamTaskId.split(" ");
  return { status, result };
};

/** fal says `COMPLETED` of failures as well; then the result has the status with which the model failed. */
const resultReport = (answer: Answer): Result<Report, ProviderUnavailable> => {
  const { status, body } = answer;
  const failed = failedAs(`COMPLETED with status ${status}`, body);
  if ((status >= 500 || status === 404) && !modelErrorSchema.safeParse(body).success) {
    // Either the model or a gateway in between wrote it.
    return ok({ state: "uncertain", reason: failed.reason, duringGracePeriod: unavailable(meaningOf(answer)) });
  }
  if (NOT_ABOUT_THE_RESULT.has(status)) return err(unavailable(meaningOf(answer)));
  if (status >= 400) return ok(failed);
  return jsonOf(answer).map((json): Report => {
    const { data } = resultSchema.safeParse(json);
    if (data === undefined) return { state: "failed", reason: "the result has no image" };
    if ("blackened" in data && data.blackened) return failedAs("COMPLETED with an error", "nsfw");
    return succeededWith(data.image.url);
  });
};
