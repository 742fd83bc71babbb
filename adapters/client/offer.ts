import * as z from "zod";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { toldAbilitiesSchema } from "./told-abilities.js";

const amount = z.int().min(0);

/** Prices and limits of a service: the member `x-panorama` of its OpenAPI description. */
export const offerSchema = z.object({
  /** Credits of one panorama, by resolution. */
  prices: z.object({ "1k": amount, "2k": amount, "4k": amount }),
  active_tasks: amount,
  /** Of one API key. */
  requests_per_minute: z.object({ read: amount, write: amount }),
  uploads: z.object({
    files: amount,
    file_bytes: amount,
    total_bytes: amount,
    request_bytes: amount,
    /** How long an uploaded image is kept that no creation uses. Absent if it is not known. */
    unused_hours: amount.optional(),
  }),
  abilities: toldAbilitiesSchema,
  /** `price_cents`: in hundredths of the currency, a code of ISO 4217. */
  credit_packs: z.array(z.object({ credits: amount, price_cents: amount, currency: z.string() })),
});

/** What `offerSchema` reads. */
export type Offer = z.infer<typeof offerSchema>;

/** How the service describes its policy. `unusedHours`: how long an unused uploaded image is kept, if it is known. */
export const offerOf = (
  { prices, rates, activeMax, uploads, packs }: PanoramaPolicy,
  unusedHours?: number | undefined,
): Omit<Offer, "abilities"> => ({
  prices,
  active_tasks: activeMax,
  requests_per_minute: { read: rates.read.limit, write: rates.write.limit },
  uploads: {
    files: uploads.filesMax,
    file_bytes: uploads.fileBytesMax,
    total_bytes: uploads.totalBytesMax,
    request_bytes: uploads.requestBytesMax,
    ...(unusedHours === undefined ? {} : { unused_hours: unusedHours }),
  },
  credit_packs: packs.map(({ credits, priceCents, currency }) => ({ credits, price_cents: priceCents, currency })),
});
