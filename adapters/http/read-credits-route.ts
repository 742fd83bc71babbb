import { ok } from "neverthrow";
import { z } from "zod";
import type { ReadCredits } from "../../application/credits/read-credits.js";
import type { GuardedHandler } from "./guard.js";
import { json } from "./reply.js";

/** Specification, Credits response. */
export const creditsResponseSchema = z
  .object({ remaining_credits: z.int().min(0).max(Number.MAX_SAFE_INTEGER) })
  .meta({ id: "CreditsResponse" });

/** `GET /credits`. */
export const readCreditsRoute =
  (readCredits: ReadCredits): GuardedHandler =>
  async (_exchange, owner) => {
    const body: z.infer<typeof creditsResponseSchema> = { remaining_credits: await readCredits(owner) };
    return ok(json(200, body));
  };
