import * as z from "zod";
import { RESOLUTION_NAMES } from "../../domain/images/resolution.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { type Abilities, IMAGE_URLS_MAX, PROMPT_CHARACTERS_MAX } from "../../domain/tasks/abilities.js";

/** Abilities of an installation: the answer to `GET /abilities`, and a member of `x-panorama`. */
const abilitiesSchema = z.object({
  /** Minimum number of reference images. With 1, a prompt alone is not enough. */
  images_min: z.int().min(0),
  images_max: z.int().min(0),
  /** In characters, as `[...prompt].length` counts them. */
  prompt_characters_max: z.int().min(0),
  resolutions: z.array(z.string()),
});

/** The output of `abilitiesSchema`. */
export type ServiceAbilities = z.infer<typeof abilitiesSchema>;

/** Abilities as JSON. Every resolution works with every model, because results are scaled. */
export const abilitiesJson = ({ imagesMin, imagesMax, promptCharactersMax }: Abilities) => ({
  images_min: imagesMin,
  images_max: imagesMax,
  prompt_characters_max: promptCharactersMax,
  resolutions: [...RESOLUTION_NAMES],
});

/** The service's abilities, limited to what this client version can send. */
export const abilitiesOf = ({ images_min, images_max, prompt_characters_max }: ServiceAbilities): Abilities => ({
  imagesMin: images_min,
  imagesMax: Math.min(images_max, IMAGE_URLS_MAX),
  promptCharactersMax: Math.min(prompt_characters_max, PROMPT_CHARACTERS_MAX),
});

const amount = z.int().min(0);

/** Prices and limits of a service: the member `x-panorama` of its OpenAPI description. */
export const offerSchema = z.object({
  /** Credits of one panorama, by resolution. */
  prices: z.object({ "1k": amount, "2k": amount, "4k": amount }),
  active_tasks: amount,
  /** Maximum number of requests per minute with one API key. */
  requests_per_minute: z.object({ read: amount, write: amount }),
  uploads: z.object({
    files: amount,
    file_bytes: amount,
    total_bytes: amount,
    request_bytes: amount,
    /** Hours until an unused uploaded image is deleted. Absent if unknown. */
    unused_hours: amount.optional(),
  }),
  abilities: abilitiesSchema,
  /** `price_cents`: in hundredths of the currency, a code of ISO 4217. */
  credit_packs: z.array(z.object({ credits: amount, price_cents: amount, currency: z.string() })),
});

/** The output of `offerSchema`. */
export type Offer = z.infer<typeof offerSchema>;

/** The offer for a policy, without abilities. `unusedHours`: hours until an unused uploaded image is deleted. */
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
