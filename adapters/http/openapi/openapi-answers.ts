import * as z from "zod";
import type { ZodOpenApiResponsesObject } from "zod-openapi";
import { type PanoramaPolicy, RATE_WINDOW_MILLISECONDS } from "../../../domain/panorama-policy.js";
import type { ErrorCode } from "../replies/errors.js";
import { taskErrorSchema } from "../replies/task-schemas.js";

/** The window of every rate limit. */
export const RATE_WINDOW_SECONDS = RATE_WINDOW_MILLISECONDS / 1000;

/** The header of every answer. */
export const requestId = z.string().meta({ description: "The x-request-id of the request, or a new id." });
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

/** The body of an error with one of these codes. */
export const errorSchema = (id: string, codes: readonly [ErrorCode, ...ErrorCode[]]): z.ZodType =>
  z.object({ error: z.object(errorMembers(codes)) }).meta({ id });

const param = z.string().optional().meta({
  description: "The parameter or header that breaks the rule. Omitted if no single parameter is invalid.",
  example: "image_urls[2]",
});
const invalidRequestSchema = z
  .object({ error: z.object({ ...errorMembers(["invalid_request"]), param }) })
  .meta({ id: "InvalidRequest" });

const upstreamErrorSchema = z
  .object({
    error: z.object({
      ...errorMembers(["upstream_error"]),
      ...taskErrorSchema.pick({ reason: true, param: true }).shape,
    }),
  })
  .meta({ id: "UpstreamError" });

type Answer = {
  readonly schema: z.ZodType;
  readonly description: string;
  readonly headers?: z.ZodRawShape;
  readonly example?: object;
};

const rateLimitHeadersOf = ({ write }: PanoramaPolicy["rates"]) =>
  z.object({
    "RateLimit-Policy": z.string().meta({
      description: "The limit of the API key.",
      example: `"write";q=${write.limit};w=${RATE_WINDOW_SECONDS}`,
    }),
    RateLimit: z.string().meta({
      description: "The remaining requests of the API key, and the seconds until more are allowed.",
      example: `"write";r=${write.limit - 1};t=${RATE_WINDOW_SECONDS}`,
    }),
  });

type RateLimitHeaders = ReturnType<typeof rateLimitHeadersOf>;
type FailureStatus = 400 | 401 | 402 | 404 | 429 | 500 | 502;

/** Every error status, as in the specification (Codes). */
const failuresWith = (rateLimitHeaders: RateLimitHeaders): Readonly<Record<FailureStatus, Answer>> => ({
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
    description: "There is no task with this id on the account.",
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
    schema: upstreamErrorSchema,
    description:
      "The generation provider did not accept the task; no credits are charged for it. Reason and param are those of the failed task, and say whether something in the request can be changed.",
  },
});

const response = ({ schema, description, headers, example }: Answer) => ({
  description,
  headers: z.object({ ...headers, "X-Request-Id": requestId }),
  content: { "application/json": { schema, ...(example && { example }) } },
});

/** The answers of one description. `refusals`: those with these statuses; `failures`: what they are made of. */
export type DescribedAnswers = ReturnType<typeof describedAnswers>;

/** Descriptions of the routes' answers, with the limits of the policy. */
export const describedAnswers = ({ rates }: PanoramaPolicy) => {
  const rateLimitHeaders = rateLimitHeadersOf(rates);
  const failures = failuresWith(rateLimitHeaders);
  return {
    failures,
    rateLimitHeaders,
    response,
    refusals: (...statuses: FailureStatus[]): ZodOpenApiResponsesObject =>
      Object.fromEntries(statuses.map((status) => [status, response(failures[status])])),
    success: (description: string, schema: z.ZodType, example: object, headers: z.ZodRawShape = {}) =>
      response({ description, schema, example, headers: { ...headers, ...rateLimitHeaders.shape } }),
  };
};
