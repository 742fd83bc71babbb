import { z } from "zod";
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiResponsesObject,
} from "zod-openapi";
import { creationRequestSchema, PROMPT_CHARACTERS_MIN } from "../../domain/creation-request.js";
import { IMAGE_TYPES } from "../../domain/image-type.js";
import { UPLOAD_FILES_MAX } from "../../domain/upload-rules.js";
import { creationResponseSchema } from "./create-panorama-route.js";
import type { ErrorCode } from "./errors.js";
import { pageQuerySchema, taskPageSchema } from "./list-panoramas-route.js";
import { panoramaTaskSchema } from "./panorama-task.js";
import { WAIT_SECONDS_MAX } from "./prefer.js";
import { creditsResponseSchema } from "./read-credits-route.js";
import { uploadResponseSchema } from "./upload-images-route.js";

/** Version of the interface (specification, Versioning). */
const VERSION = "1.0.0";

const rateLimitHeaders = z.object({
  "RateLimit-Policy": z.string().meta({ description: "The key's limit.", example: '"write";q=10;w=60' }),
  RateLimit: z.string().meta({
    description: "Requests that the key may still make, and seconds until it may make more.",
    example: '"write";r=9;t=60',
  }),
});

const requestId = z.string().meta({ description: "The caller's own x-request-id, or a new one." });
const retryAfter = z.int().min(1).max(60).optional().meta({ description: "Seconds to wait; with rate_limited only." });
const bearer = z.literal("Bearer").meta({ description: "How to authenticate." });

const errorMembers = (codes: readonly [ErrorCode, ...ErrorCode[]]) => ({
  code: z.enum(codes),
  message: z.string().meta({ description: "For people; may change." }),
});

const errorSchema = (id: string, codes: readonly [ErrorCode, ...ErrorCode[]]) =>
  z.object({ error: z.object(errorMembers(codes)) }).meta({ id });

const param = z.string().optional().meta({
  description: "The parameter or header that breaks the rule. Omitted if no single one is at fault.",
  example: "image_urls[2]",
});
const invalidRequestSchema = z
  .object({ error: z.object({ ...errorMembers(["invalid_request"]), param }) })
  .meta({ id: "InvalidRequest" });

type Failure = { readonly schema: z.ZodType; readonly description: string; readonly headers?: z.ZodRawShape };

/** Everything that can go wrong with a status, in the words of the specification (Codes). */
const failures = {
  400: {
    schema: invalidRequestSchema,
    description: "The request breaks a rule: fix it.",
  },
  401: {
    schema: errorSchema("InvalidApiKey", ["invalid_api_key"]),
    description: "The key is missing or not valid.",
    headers: { "WWW-Authenticate": bearer },
  },
  402: {
    schema: errorSchema("InsufficientCredits", ["insufficient_credits"]),
    description: "Not enough credits for the resolution: buy some.",
  },
  404: {
    schema: errorSchema("NotFound", ["not_found"]),
    description: "There is no task with this id on the account.",
  },
  429: {
    schema: errorSchema("RateLimited", ["rate_limited"]),
    description: "Too many requests within a minute: wait for retry-after seconds.",
    headers: { "Retry-After": retryAfter, ...rateLimitHeaders.shape },
  },
  500: {
    schema: errorSchema("InternalError", ["internal_error"]),
    description: "An unexpected error of the server.",
  },
  502: {
    schema: errorSchema("UpstreamError", ["upstream_error"]),
    description: "The generation provider did not accept the task; no credits are charged for it.",
  },
} as const satisfies Record<number, Failure>;

const response = ({ schema, description, headers }: Failure) => ({
  description,
  headers: z.object({ ...headers, "X-Request-Id": requestId }),
  content: { "application/json": { schema } },
});

const refusals = (...statuses: (keyof typeof failures)[]): ZodOpenApiResponsesObject =>
  Object.fromEntries(statuses.map((status) => [status, response(failures[status])]));

const success = (description: string, schema: z.ZodType, headers: z.ZodRawShape = {}) =>
  response({ description, schema, headers: { ...headers, ...rateLimitHeaders.shape } });

/** The rule that the schema keeps by itself, in the words of JSON Schema: a prompt, image URLs, or both. */
const creationRequest = creationRequestSchema.meta({
  id: "CreationRequest",
  anyOf: [
    { required: ["prompt"], properties: { prompt: { minLength: PROMPT_CHARACTERS_MIN } } },
    { required: ["image_urls"], properties: { image_urls: { minItems: 1 } } },
  ],
});

const createPanorama: ZodOpenApiOperationObject = {
  operationId: "createPanorama",
  summary: "Create a panorama",
  description:
    "Reserves the credits and starts the generation, which takes some 30 to 60 seconds. Needs a prompt of at least 3 characters, image_urls, or both.",
  requestParams: {
    header: z.object({
      "Idempotency-Key": z.string().min(1).max(257).optional().meta({
        description:
          "Your own name for this creation, 1 to 255 visible ASCII characters, bare or in quotes, kept for 24 hours. A repeat with the same key and body gives the same task, and charges nothing.",
      }),
    }),
  },
  requestBody: { required: true, content: { "application/json": { schema: creationRequest } } },
  responses: {
    202: success("The task is processing.", creationResponseSchema, {
      Location: z.string().meta({ description: "Where to read the task." }),
      "Idempotent-Replayed": z.literal("true").optional().meta({
        description: "Only if the Idempotency-Key named this task already.",
      }),
    }),
    ...refusals(400, 401, 402, 500, 502),
    429: response({
      ...failures[429],
      schema: errorSchema("RateLimitedOrTooManyActiveTasks", ["rate_limited", "too_many_active_tasks"]),
      description: "Too many requests within a minute (with retry-after), or 5 tasks in processing (without).",
    }),
  },
};

const listPanoramas: ZodOpenApiOperationObject = {
  operationId: "listPanoramas",
  summary: "List the account's tasks, newest first",
  requestParams: { query: pageQuerySchema },
  responses: { 200: success("One page.", taskPageSchema), ...refusals(400, 401, 429, 500) },
};

const readPanorama: ZodOpenApiOperationObject = {
  operationId: "readPanorama",
  summary: "Read a task",
  requestParams: {
    path: z.object({ id: z.string().meta({ description: "The id that the creation gave." }) }),
    header: z.object({
      Prefer: z
        .string()
        .optional()
        .meta({
          description: `wait=N: answer as soon as the task has left processing, or after N seconds, at most ${WAIT_SECONDS_MAX}.`,
          example: "wait=30",
        }),
    }),
  },
  responses: {
    200: success("The task.", panoramaTaskSchema, {
      "Preference-Applied": z.string().optional().meta({ description: "The wait that was granted." }),
    }),
    ...refusals(401, 404, 429, 500),
  },
};

const uploadImages: ZodOpenApiOperationObject = {
  operationId: "uploadImages",
  summary: "Upload reference images",
  description: `At most ${UPLOAD_FILES_MAX} files, 10 MiB each and 20 MiB in total, in a request of at most 25 MiB. The same contents have the same URL.`,
  requestBody: {
    required: true,
    content: {
      "multipart/form-data": {
        schema: z.object({ files: z.array(z.file()).min(1).max(UPLOAD_FILES_MAX) }),
        encoding: { files: { contentType: IMAGE_TYPES.join(", ") } },
      },
    },
  },
  responses: {
    200: success("Where the images are.", uploadResponseSchema),
    ...refusals(400, 401, 429, 500),
  },
};

const readCredits: ZodOpenApiOperationObject = {
  operationId: "readCredits",
  summary: "Read the balance",
  responses: { 200: success("The balance.", creditsResponseSchema), ...refusals(401, 429, 500) },
};

/** A client must not break when an answer has one more field some day. */
const RESPONSES_MAY_GROW: CreateDocumentOptions = {
  override: ({ jsonSchema }) => {
    delete jsonSchema.additionalProperties;
  },
};

/** The description of the interface, made of the schemas that it works with. `origin` is without a slash at the end. */
export const openApiDocument = (origin: string): ReturnType<typeof createDocument> =>
  createDocument(
    {
      openapi: "3.1.1",
      info: {
        title: "Panorama Generation Service",
        version: VERSION,
        description:
          "360° equirectangular panoramas from a text prompt, from up to 3 reference images, or from both. Creating one gives a task; read it every few seconds, or with Prefer: wait, until it has succeeded or failed. An error with the code invalid_request names the parameter at fault in its optional member param.",
        license: { name: "MIT", identifier: "MIT" },
      },
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
        "/panoramas/{id}": { get: readPanorama },
        "/images": { post: uploadImages },
        "/credits": { get: readCredits },
      },
    },
    RESPONSES_MAY_GROW,
  );
