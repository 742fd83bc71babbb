import { ok } from "neverthrow";
import * as z from "zod";
import type { UseCases } from "../../../application/create-application.js";
import { json } from "../replies/reply.js";
import type { GuardedHandler } from "./guard.js";

const amount = (description: string) => z.int().min(0).max(Number.MAX_SAFE_INTEGER).meta({ description });

/** Specification, Credits response. */
export const creditsResponseSchema = z
  .object({
    remaining_credits: amount("The balance: credits that are neither reserved nor spent."),
    reserved_credits: amount("Held by tasks in processing. Refunded if a task fails."),
    spent_credits: amount("Spent on tasks that have succeeded, since the account was opened."),
  })
  .meta({ id: "CreditsResponse" });

/** `GET /credits`. */
export const readCreditsRoute =
  (credits: Pick<UseCases["credits"], "readTotals">): GuardedHandler =>
  async (_exchange, owner) => {
    const { remaining, reserved, spent } = await credits.readTotals(owner);
    const body: z.infer<typeof creditsResponseSchema> = {
      remaining_credits: remaining,
      reserved_credits: reserved,
      spent_credits: spent,
    };
    return ok(json(200, body));
  };
