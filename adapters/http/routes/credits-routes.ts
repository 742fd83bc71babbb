import { err, ok } from "neverthrow";
import * as z from "zod";
import type { UseCases } from "../../../application/create-application.js";
import type { EntryLine } from "../../../application/list-entries.js";
import { entryPlaceText, parseEntryPlace } from "../../../domain/credits/ledger-page.js";
import { cursorOf, placeIn } from "../../web-page/cursor.js";
import { json } from "../replies/reply.js";
import { listQuery } from "../requests/list-query.js";
import type { GuardedHandler } from "./guard.js";
import { invalidCursor, invalidLimit, PAGE_LIMIT_MAX, pageQuery } from "./list-panoramas-route.js";

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
export function readCreditsRoute(credits: UseCases["credits"]): GuardedHandler {
  return async (_exchange, { accountId: owner }) => {
    const { remaining, reserved, spent } = await credits.readTotals(owner);
    const body: z.infer<typeof creditsResponseSchema> = {
      remaining_credits: remaining,
      reserved_credits: reserved,
      spent_credits: spent,
    };
    return ok(json(200, body));
  };
}

export const entriesQuerySchema = pageQuery("entries");

/** The list of a cursor. */
const LEDGER = "credits/entries";

const integer = (description: string) =>
  z.int().min(-Number.MAX_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER).meta({ description });

const entrySchema = z
  .object({
    kind: z.string().meta({
      description:
        "purchase, reservation, refund, adjustment, and others: ignore those that you do not know, credits says what they did.",
      example: "reservation",
    }),
    credits: integer("What the entry has added to the balance; negative if it has taken credits."),
    balance_after: integer("The balance after the entry."),
    task_id: z.string().optional().meta({ description: "Of an entry for a panorama." }),
    order_id: z.string().optional().meta({ description: "Of an entry for an order." }),
    key_id: z.string().optional().meta({ description: "The API key that has created the panorama." }),
    reason: z.string().optional().meta({ description: "Why the operator has given or taken the credits." }),
    at: z.iso.datetime().meta({ description: "When it was written." }),
  })
  .meta({ id: "CreditEntry" });

export const entryPageSchema = z
  .object({
    data: z.array(entrySchema).max(PAGE_LIMIT_MAX),
    next_cursor: z.string().nullable().meta({ description: "null on the last page." }),
  })
  .meta({ id: "CreditEntryPage" });

/** `GET /credits/entries`: the ledger of the account, newest first. */
export function listEntriesRoute(credits: UseCases["credits"]): GuardedHandler {
  return async (exchange, { accountId: owner }) => {
    const sent = listQuery(exchange.query, Object.keys(entriesQuerySchema.shape));
    if (sent.isErr()) return err(sent.error);
    const parameters = sent.value;
    const query = entriesQuerySchema.safeParse(Object.fromEntries(parameters));
    if (!query.success) return err(invalidLimit(parameters));
    const { limit, cursor } = query.data;
    const before = cursor === undefined ? undefined : parseEntryPlace(placeIn(LEDGER, cursor) ?? "");
    if (cursor !== undefined && before === undefined) return err(invalidCursor(cursor));
    const { entries, next } = await credits.listEntries(owner, limit, before);
    const page: z.infer<typeof entryPageSchema> = {
      data: entries.map(entryOf),
      next_cursor: next === undefined ? null : cursorOf(LEDGER, entryPlaceText(next)),
    };
    return ok(json(200, page));
  };
}

const entryOf = ({ entry, apiKeyId, balanceAfter }: EntryLine): z.infer<typeof entrySchema> => ({
  kind: entry.kind,
  credits: entry.credits,
  balance_after: balanceAfter,
  ...("taskId" in entry && { task_id: entry.taskId }),
  ...("orderId" in entry && { order_id: entry.orderId }),
  ...(apiKeyId !== undefined && { key_id: apiKeyId }),
  ...("reason" in entry && { reason: entry.reason }),
  at: entry.at.toISOString(),
});
