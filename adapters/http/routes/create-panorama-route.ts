import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type { UseCases } from "../../../application/create-application.js";
import { type IdempotencyKey, parseIdempotencyKey } from "../../../domain/credits/idempotency.js";
import type { InvalidRequest } from "../../../domain/invalid-request.js";
import { parseCreation } from "../../../domain/tasks/creation-request.js";
import { json } from "../replies/reply.js";
import { creationFields, creditsChargedSchema } from "../replies/task-schemas.js";
import type { Exchange } from "../requests/exchange.js";
import { readJson } from "../requests/json-body.js";
import type { GuardedHandler } from "./guard.js";

/** Body of the 202 answer (specification, section "Creation response"). */
export const creationResponseSchema = z
  .object({
    id: z.string(),
    status: z.literal("processing"),
    credits_charged: creditsChargedSchema.meta({ description: "The reserved credits." }),
    ...creationFields,
  })
  .meta({ id: "CreationResponse" });

/**
 * `POST /panoramas`. `publicUrl` includes the path at which the routes are mounted. A `webhook_url` at one of
 * `webhookPrivateOrigins` may use http or a private address.
 */
export function createPanoramaRoute(
  panoramas: UseCases["panoramas"],
  publicUrl: string,
  webhookPrivateOrigins: readonly string[],
): GuardedHandler {
  const panoramasPath = `${new URL(publicUrl).pathname.replace(/\/$/, "")}/api/v1/panoramas`;
  return async (exchange, { accountId: owner, key: apiKey }) => {
    const idempotencyKey = idempotencyKeyOf(exchange);
    if (idempotencyKey.isErr()) return err(idempotencyKey.error);
    const creation = (await readJson(exchange)).andThen((body) => parseCreation(body, webhookPrivateOrigins));
    if (creation.isErr()) return err(creation.error);
    const held = await exchange.hold();
    if (held.isErr()) return err(held.error);

    const { request, maxCredits } = creation.value;
    const created = await panoramas.create(owner, request, idempotencyKey.value, {
      apiKey,
      admittedBy: { apiKeyId: apiKey.id },
      maxCredits,
      traceparent: exchange.traceparent,
    });
    return created.map(({ task, replayed }) => {
      // A replayed creation gets the original answer, even if the task has progressed since.
      const body: z.infer<typeof creationResponseSchema> = {
        id: task.id,
        status: "processing",
        credits_charged: task.reservation.credits,
        created_at: task.reservedAt.toISOString(),
        resolution: request.resolution,
        visibility: request.visibility, // as requested: a replay repeats the first answer
        prompt: request.prompt,
        image_urls: [...request.imageUrls],
        seed: request.seed,
        metadata: request.metadata,
      };
      return json(202, body, {
        location: `${panoramasPath}/${task.id}`,
        ...(replayed && { "idempotent-replayed": "true" }),
      });
    });
  };
}

function idempotencyKeyOf(exchange: Exchange): Result<IdempotencyKey | undefined, InvalidRequest> {
  const header = exchange.header("idempotency-key");
  return header === undefined ? ok(undefined) : parseIdempotencyKey(header);
}
