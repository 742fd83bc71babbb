import * as z from "zod";
import type { Offer } from "../client/offer.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { resultOf } from "../client/panorama-error.js";
import { creditsText, pricesSentence } from "../wording/numbers.js";
import { CALL_MILLISECONDS, type Tool, tool } from "./tool.js";
import { toolErrorOf } from "./tool-error.js";

type Dependencies = { readonly offer: Offer; readonly client: PanoramaClient; readonly site: string };

export const getCreditBalance = ({ offer, client, site }: Dependencies): Tool =>
  tool({
    name: "get_credit_balance",
    title: "Read the credit balance",
    description: `Reads how many credits the account has left. Free; generates nothing. A panorama costs ${pricesSentence(offer.prices)}.`,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    input: z.strictObject({}),
    output: z.object({ remaining_credits: z.int().min(0) }),
    run: async (_, { signal }) => {
      const balance = await resultOf(client.credits({ signal, timeout: CALL_MILLISECONDS }));
      return balance
        .map(({ remaining_credits: remaining }) => ({
          structured: { remaining_credits: Math.max(0, remaining) },
          message: `The account has ${creditsText(remaining)} left.`,
        }))
        .mapErr((error) => toolErrorOf(error, site));
    },
  });
