import * as z from "zod";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../domain/tasks/abilities.js";
import { abilitiesJson, type Offer, offerOf } from "../client/offer.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { resultOf } from "../client/panorama-error.js";

const amount = z.int().min(0);
const bytes = { file_bytes: amount, total_bytes: amount, request_bytes: amount };
const ranges = { images_min: amount, images_max: amount, prompt_characters_max: amount };
const offerSchema: z.ZodType<Offer> = z.object({
  prices: z.object({ "1k": amount, "2k": amount, "4k": amount }),
  active_tasks: amount,
  requests_per_minute: z.object({ read: amount, write: amount }),
  uploads: z.object({ files: amount, ...bytes, unused_hours: amount.optional() }),
  abilities: z.object({ ...ranges, resolutions: z.array(z.string()) }),
  credit_packs: z.array(z.object({ credits: amount, price_cents: amount, currency: z.string() })),
});

/** A service that does not answer is reported by the call that needs it. */
const OFFER_MILLISECONDS = 5_000;

/**
 * Reads prices, limits and abilities of the service at each use, because they may change while this process runs.
 * Reads that overlap are one. Answers the last known ones if the service does not answer, at first those of the
 * specification. Never rejects.
 */
export function currentOffer(client: PanoramaClient, log: (line: string) => void): () => Promise<Offer> {
  let known: Offer = { ...offerOf(PANORAMA_POLICY), abilities: abilitiesJson(ALL_ABILITIES) };
  let reading: Promise<Offer> | undefined;
  let isReported = false;
  const read = async (): Promise<Offer> => {
    const offer = await resultOf(client.offer({ timeout: OFFER_MILLISECONDS, maxRetries: 0 }));
    if (offer.isOk()) known = offerSchema.safeParse(offer.value).data ?? known;
    else if (!isReported) {
      log(`the prices of the service cannot be read, so the last known are used: ${offer.error.message}`);
    }
    isReported = offer.isErr();
    reading = undefined;
    return known;
  };
  return () => {
    reading ??= read();
    return reading;
  };
}
