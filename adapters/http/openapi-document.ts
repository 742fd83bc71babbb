import { z } from "zod";
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";
import {
  creationRequestSchema,
  IMAGE_URLS_MAX,
  PROMPT_CHARACTERS_MAX,
  PROMPT_CHARACTERS_MIN,
} from "../../domain/creation-request.js";
import { KEY_CHARACTERS_MAX } from "../../domain/idempotency.js";
import { IMAGE_TYPES } from "../../domain/image-type.js";
import {
  IDEMPOTENCY_KEPT_MILLISECONDS,
  PANORAMA_POLICY,
  type PanoramaPolicy,
  RATE_WINDOW_MILLISECONDS,
} from "../../domain/panorama-policy.js";
import { RESOLUTION_NAMES, resolutionsDescription } from "../../domain/resolution.js";
import { offerOf } from "../client/offer.js";
import { mebibytes } from "../wording/mebibytes.js";
import { pricesSentence } from "../wording/prices.js";
import { creationResponseSchema } from "./create-panorama-route.js";
import type { ErrorCode } from "./errors.js";
import { eventSchema } from "./event-body.js";
import { STREAM_MILLISECONDS_MAX } from "./events-route.js";
import { HELD_STREAMS_MAX } from "./held-streams.js";
import { HELD_WAITS_MAX } from "./held-waits.js";
import { pageQuerySchema, taskPageSchema } from "./list-panoramas-route.js";
import { openApiExamples } from "./openapi-examples.js";
import { panoramaTaskSchema } from "./panorama-task.js";
import { WAIT_SECONDS_MAX } from "./prefer.js";
import { creditsResponseSchema } from "./read-credits-route.js";
import { filterParameters } from "./task-filter-query.js";
import { uploadResponseSchema } from "./upload-images-route.js";

/** Version of the REST interface (specification, Versioning). */
const VERSION = "1.0.0";

const RATE_WINDOW_SECONDS = RATE_WINDOW_MILLISECONDS / 1000;

const requestId = z.string().meta({ description: "The x-request-id of the request, or a new id." });
const retryAfter = z
  .int()
  .min(1)
  .max(RATE_WINDOW_SECONDS)
  .optional()
  .meta({ description: "Seconds to wait; only with rate_limited." });
const bearer = z.literal("Bearer").meta({ description: "How to authenticate." });

const errorMembers = (codes: readonly [ErrorCode, ...ErrorCode[]]) => ({
  code: z.enum(codes),
  message: z.string().meta({ description: "For people; the wording may change." }),
});

const errorSchema = (id: string, codes: readonly [ErrorCode, ...ErrorCode[]]) =>
  z.object({ error: z.object(errorMembers(codes)) }).meta({ id });

const param = z.string().optional().meta({
  description: "The parameter or header that breaks the rule. Omitted if no single parameter is invalid.",
  example: "image_urls[2]",
});
const invalidRequestSchema = z
  .object({ error: z.object({ ...errorMembers(["invalid_request"]), param }) })
  .meta({ id: "InvalidRequest" });

type Answer = {
  readonly schema: z.ZodType;
  readonly description: string;
  readonly headers?: z.ZodRawShape;
  readonly example?: object;
};

/** Allows unknown fields in answers, so that a new field does not break clients. The values of a map keep their schema. */
const ALLOW_UNKNOWN_FIELDS: CreateDocumentOptions = {
  override: ({ jsonSchema }) => {
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  },
};

/**
 * The OpenAPI description, generated from the schemas of the routes, with the prices and limits of the policy. `origin` has
 * no trailing slash.
 */
export const openApiDocument = (
  origin: string,
  policy: PanoramaPolicy = PANORAMA_POLICY,
): ReturnType<typeof createDocument> => {
  const { prices, rates, activeMax, uploads } = policy;
  const examples = openApiExamples(origin, policy);
  const rateLimitHeaders = z.object({
    "RateLimit-Policy": z.string().meta({
      description: "The limit of the API key.",
      example: `"write";q=${rates.write.limit};w=${RATE_WINDOW_SECONDS}`,
    }),
    RateLimit: z.string().meta({
      description: "The remaining requests of the API key, and the seconds until more are allowed.",
      example: `"write";r=${rates.write.limit - 1};t=${RATE_WINDOW_SECONDS}`,
    }),
  });

  /** Every error status, as in the specification (Codes). */
  const failures = {
    400: {
      schema: invalidRequestSchema,
      description: "The request is invalid. Correct it before you send it again.",
    },
    401: {
      schema: errorSchema("InvalidApiKey", ["invalid_api_key"]),
      description: "The API key is missing or not valid, has expired, or lacks the scope for this request.",
      headers: { "WWW-Authenticate": bearer },
    },
    402: {
      schema: errorSchema("InsufficientCredits", ["insufficient_credits"]),
      description:
        "Not enough credits for the resolution, or not enough left of the API key's budget of the day or month. The message says which.",
    },
    404: {
      schema: errorSchema("NotFound", ["not_found"]),
      description:
        "There is no task with this id on the account; for a creation, the panorama of its Idempotency-Key was deleted.",
    },
    429: {
      schema: errorSchema("RateLimited", ["rate_limited"]),
      description:
        "Too many requests within a minute, or the service is overloaded (without RateLimit). Wait for retry-after seconds.",
      headers: { "Retry-After": retryAfter, ...rateLimitHeaders.partial().shape },
    },
    500: {
      schema: errorSchema("InternalError", ["internal_error"]),
      description: "An unexpected error of the server.",
    },
    502: {
      schema: errorSchema("UpstreamError", ["upstream_error"]),
      description: "The generation provider did not accept the task; no credits are charged for it.",
    },
  } as const satisfies Record<number, Answer>;

  const response = ({ schema, description, headers, example }: Answer) => ({
    description,
    headers: z.object({ ...headers, "X-Request-Id": requestId }),
    content: { "application/json": { schema, ...(example && { example }) } },
  });

  const refusals = (...statuses: (keyof typeof failures)[]): ZodOpenApiResponsesObject =>
    Object.fromEntries(statuses.map((status) => [status, response(failures[status])]));

  const success = (description: string, schema: z.ZodType, example: object, headers: z.ZodRawShape = {}) =>
    response({ description, schema, example, headers: { ...headers, ...rateLimitHeaders.shape } });

  /**
   * States in words what zod checks in code: a prompt, image URLs, or both. `anyOf` would state it too, but generated
   * clients get a model for each of its parts, and none for the request.
   */
  const creationRequest = creationRequestSchema
    .safeExtend({ resolution: z.enum(RESOLUTION_NAMES).meta({ description: resolutionsDescription(prices) }) })
    .meta({
      id: "CreationRequest",
      description: `Has a prompt, image_urls with at least one URL, or both. Without image_urls the prompt has at least ${PROMPT_CHARACTERS_MIN} characters. White space around a prompt does not count.`,
    });

  const createPanorama: ZodOpenApiOperationObject = {
    operationId: "createPanorama",
    summary: "Create a panorama",
    description: `Reserves the credits and starts the generation, which takes about 30 to 60 seconds. Needs a prompt of ${PROMPT_CHARACTERS_MIN} to ${PROMPT_CHARACTERS_MAX} characters, image_urls, or both.`,
    requestParams: {
      header: z.object({
        "Idempotency-Key": z
          .string()
          .min(1)
          .max(KEY_CHARACTERS_MAX + 2)
          .optional()
          .meta({
            description: `Your own id for this creation: 1 to ${KEY_CHARACTERS_MAX} visible ASCII characters, with or without quotes, valid for ${IDEMPOTENCY_KEPT_MILLISECONDS / 3_600_000} hours. A repeat with the same key and body returns the same task and charges nothing, or gives 404 if its panorama was deleted.`,
          }),
      }),
    },
    requestBody: {
      required: true,
      content: { "application/json": { schema: creationRequest, example: examples.creation } },
    },
    responses: {
      202: success("The task is processing.", creationResponseSchema, examples.created, {
        Location: z.string().meta({ description: "The path of the task." }),
        "Idempotent-Replayed": z.literal("true").optional().meta({
          description: "Sent only if an earlier request with the same Idempotency-Key created this task.",
        }),
      }),
      ...refusals(400, 401, 402, 404, 500, 502),
      429: response({
        ...failures[429],
        schema: errorSchema("RateLimitedOrTooManyActiveTasks", ["rate_limited", "too_many_active_tasks"]),
        description: `Too many requests within a minute, or the service is overloaded (with retry-after), or already ${activeMax} tasks in processing (without).`,
      }),
    },
  };

  const listPanoramas: ZodOpenApiOperationObject = {
    operationId: "listPanoramas",
    summary: "List the account's tasks, newest first",
    description:
      "Every filter narrows the list. A cursor belongs to its filters: send them again with it. Filter by metadata with metadata.KEY=value, once for each pair that a task must have.",
    requestParams: { query: pageQuerySchema.extend(filterParameters) },
    responses: { 200: success("One page.", taskPageSchema, examples.page), ...refusals(400, 401, 429, 500) },
  };

  const path = z.object({
    id: z.string().meta({ description: "The id from the answer to the creation.", example: examples.task.id }),
  });

  const readPanorama: ZodOpenApiOperationObject = {
    operationId: "readPanorama",
    summary: "Read a task",
    requestParams: {
      path,
      header: z.object({
        Prefer: z
          .string()
          .optional()
          .meta({
            description: `wait=N: answer when the task leaves processing, or after N seconds. N is at most ${WAIT_SECONDS_MAX}. If the account already holds ${HELD_WAITS_MAX} such requests, it is answered at once, without Preference-Applied.`,
            example: "wait=30",
          }),
      }),
    },
    responses: {
      200: success("The task.", panoramaTaskSchema, examples.task, {
        "Preference-Applied": z.string().optional().meta({ description: "The wait that the service applied." }),
      }),
      ...refusals(401, 404, 429, 500),
    },
  };

  const cancelPanorama: ZodOpenApiOperationObject = {
    operationId: "cancelPanorama",
    summary: "Cancel a task",
    description:
      "Ends a task in processing as failed, with its refund, if it costs nothing yet: it waits for a free slot of the provider, or the provider stops it without a charge. Otherwise it goes on. The answer is the task as it is afterwards. Can be repeated. Needs a key with the scope create.",
    requestParams: { path },
    responses: {
      200: success("The task, canceled or not.", panoramaTaskSchema, examples.task),
      ...refusals(401, 404, 429, 500),
    },
  };

  const deletePanorama: ZodOpenApiOperationObject = {
    operationId: "deletePanorama",
    summary: "Delete a panorama",
    description:
      "Deletes image and thumbnail of a finished panorama; its task is no longer found. The ledger keeps its entries. Can be repeated. A task in processing, or whose image is uploading, is refused with 400. Needs a key with the scope create.",
    requestParams: { path },
    responses: {
      204: {
        description: "The panorama is deleted.",
        headers: z.object({ ...rateLimitHeaders.shape, "X-Request-Id": requestId }),
      },
      ...refusals(400, 401, 404, 429, 500),
    },
  };

  const uploadImages: ZodOpenApiOperationObject = {
    operationId: "uploadImages",
    summary: "Upload reference images",
    description: `At most ${uploads.filesMax} files, ${mebibytes(uploads.fileBytesMax)} each and ${mebibytes(uploads.totalBytesMax)} in total, in a request of at most ${mebibytes(uploads.requestBytesMax)}. Files with the same content get the same URL.`,
    requestBody: {
      required: true,
      content: {
        "multipart/form-data": {
          schema: z.object({ files: z.array(z.file()).min(1).max(uploads.filesMax) }),
          encoding: { files: { contentType: IMAGE_TYPES.join(", ") } },
        },
      },
    },
    responses: {
      200: success("The URLs of the images.", uploadResponseSchema, examples.uploaded),
      ...refusals(400, 401, 429, 500),
    },
  };

  const readCredits: ZodOpenApiOperationObject = {
    operationId: "readCredits",
    summary: "Read the balance",
    description: "All credits that the account has bought are remaining, reserved or spent.",
    responses: { 200: success("The credits.", creditsResponseSchema, examples.totals), ...refusals(401, 429, 500) },
  };

  /** `text/event-stream`: OpenAPI 3.1 has no schema for it, so the description says what it is. */
  const streamOf = (operationId: string, summary: string, description: string): ZodOpenApiOperationObject => ({
    operationId,
    summary,
    description: `${description} Each event has the id of its webhook, its type as event, and the body of its webhook as data. Comments keep the connection alive. The stream ends after ${STREAM_MILLISECONDS_MAX / 60_000} minutes, when its API key expires or is revoked, and when the server stops: connect again with the last id. It counts as one read. An account may have ${HELD_STREAMS_MAX} streams open in one process.`,
    requestParams: {
      header: z.object({
        "Last-Event-ID": z.string().optional().meta({
          description:
            "The id of the last event that was received. With an unknown one, the stream begins with the first event that is kept.",
        }),
      }),
    },
    responses: {
      200: {
        description: "The events as they happen.",
        headers: z.object({ "X-Request-Id": requestId, ...rateLimitHeaders.shape }),
        content: { "text/event-stream": { schema: z.string() } },
      },
      ...refusals(401, 429, 500),
    },
  });

  const streamEvents = streamOf(
    "streamEvents",
    "Receive the account's events as they happen",
    "Begins after Last-Event-ID, or without it, now.",
  );
  const taskStream = streamOf(
    "streamPanoramaEvents",
    "Receive the events of a task as they happen",
    "Begins after Last-Event-ID, or without it, with the first event of the task. Ends after its last one.",
  );
  const streamPanoramaEvents: ZodOpenApiOperationObject = {
    ...taskStream,
    requestParams: {
      ...taskStream.requestParams,
      path,
    },
    responses: {
      ...taskStream.responses,
      204: { description: "The task has no more events.", headers: z.object({ "X-Request-Id": requestId }) },
      ...refusals(404),
    },
  };

  const event: ZodOpenApiOperationObject = {
    operationId: "receiveEvent",
    summary: "An event of the account",
    description:
      "Sent to the endpoints of the account and to the webhook_url of the task, signed as Standard Webhooks defines it. Answer with a status from 200 to 299 within 10 seconds; otherwise it is sent again, for three days. The same webhook-id may arrive more than once. The events of one task arrive in the order of their ids.",
    security: [],
    requestParams: {
      header: z.object({
        "webhook-id": z.string().meta({ description: "The id of the event, the same in every attempt." }),
        "webhook-timestamp": z.string().meta({ description: "When the attempt was made, in seconds since 1970." }),
        "webhook-signature": z.string().meta({ description: "One or two signatures, separated by a space." }),
      }),
    },
    requestBody: { required: true, content: { "application/json": { schema: eventSchema, example: examples.event } } },
    responses: { 204: { description: "The event is received." } },
  };

  return createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "Panorama Generation Service",
        version: VERSION,
        description: `360° equirectangular panoramas from a text prompt, from up to ${IMAGE_URLS_MAX} reference images, or from both. A creation returns a task. A panorama costs ${pricesSentence(prices)}. In any window of ${RATE_WINDOW_SECONDS} seconds an API key may make ${rates.write.limit} writes and ${rates.read.limit} reads. Read the task every few seconds, or with Prefer: wait, until it has succeeded or failed. An error with the code invalid_request names the invalid parameter in its optional member param.`,
        license: { name: "MIT", identifier: "MIT" },
      },
      // Read by the MCP server and the client.
      "x-panorama": offerOf(policy),
      servers: [{ url: `${origin}/api/v1` }],
      security: [{ bearer: [] }, { apiKey: [] }],
      components: {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", description: "Authorization: Bearer sk-…" },
          apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
        },
      },
      paths: {
        "/panoramas": { post: createPanorama, get: listPanoramas },
        "/panoramas/{id}": { get: readPanorama, delete: deletePanorama },
        "/panoramas/{id}/cancel": { post: cancelPanorama },
        "/panoramas/{id}/events": { get: streamPanoramaEvents },
        "/events": { get: streamEvents },
        "/images": { post: uploadImages },
        "/credits": { get: readCredits },
      },
      webhooks: { event: { post: event } },
    },
    ALLOW_UNKNOWN_FIELDS,
  );
};
