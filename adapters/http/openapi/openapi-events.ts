import * as z from "zod";
import type { ZodOpenApiOperationObject } from "zod-openapi";
import { OPEN_STREAMS_MAX } from "../limits/open-requests.js";
import { eventSchema, STREAM_MILLISECONDS_MAX } from "../routes/events-route.js";
import { requestId } from "./openapi-answers.js";
import { type Described, taskPath } from "./openapi-panoramas.js";

/** `text/event-stream`: OpenAPI 3.1 has no schema for it, so the description says what it is. */
const streamOf = (
  { answers }: Described,
  operationId: string,
  summary: string,
  description: string,
): ZodOpenApiOperationObject => ({
  operationId,
  tags: ["Events"],
  summary,
  description: `${description} Each event has the id of its webhook, its type as event, and the body of its webhook as data. Comments keep the connection alive. The stream ends after ${STREAM_MILLISECONDS_MAX / 60_000} minutes, when its API key expires or is revoked, and when the server stops: connect again with the last id. It counts as one read. An account may have ${OPEN_STREAMS_MAX} streams open in one process.`,
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
      headers: z.object({ "X-Request-Id": requestId, ...answers.rateLimitHeaders.shape }),
      content: { "text/event-stream": { schema: z.string() } },
    },
    ...answers.refusals(401, 429, 500),
  },
});

export const streamAccountEvents = (described: Described): ZodOpenApiOperationObject =>
  streamOf(
    described,
    "streamEvents",
    "Receive the account's events as they happen",
    "Begins after Last-Event-ID, or without it, now.",
  );

export const streamPanoramaEvents = (described: Described): ZodOpenApiOperationObject => {
  const stream = streamOf(
    described,
    "streamPanoramaEvents",
    "Receive the events of a task as they happen",
    "Begins after Last-Event-ID, or without it, with the first event of the task. Ends after its last one.",
  );
  return {
    ...stream,
    requestParams: { ...stream.requestParams, path: taskPath(described) },
    responses: {
      ...stream.responses,
      204: { description: "The task has no more events.", headers: z.object({ "X-Request-Id": requestId }) },
      ...described.answers.refusals(404),
    },
  };
};

/** The webhook of an event. */
export const event = ({ examples }: Described): ZodOpenApiOperationObject => ({
  operationId: "receiveEvent",
  tags: ["Events"],
  summary: "An event of the account",
  description:
    "Sent to the endpoints of the account and to the webhook_url of the task, signed as Standard Webhooks defines it. Answer with a status from 200 to 299 within 10 seconds; otherwise it is sent again, for three days. Retry-After of 429 and 503 is followed, for up to six hours. The same webhook-id may arrive more than once. The events of one task arrive in the order of their ids.",
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
});
