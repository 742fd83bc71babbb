import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { ALL_ABILITIES } from "../../domain/tasks/abilities.js";
import { abilitiesJson, type Offer, offerOf, offerSchema } from "../client/offer.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { resultOf } from "../client/panorama-error.js";

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
