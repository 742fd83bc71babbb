import { RESOLUTION_NAMES, type Resolution } from "../../domain/images/resolution.js";
import type { PanoramaPolicy } from "../../domain/panorama-policy.js";
import { type Abilities, IMAGE_URLS_MAX, PROMPT_CHARACTERS_MAX } from "../../domain/tasks/abilities.js";

/** Abilities of an installation: the answer to `GET /abilities`, and a member of `x-panorama`. */
export type ServiceAbilities = {
  /** Minimum number of reference images. With 1, a prompt alone is not enough. */
  images_min: number;
  images_max: number;
  /** In characters, as `[...prompt].length` counts them. */
  prompt_characters_max: number;
  resolutions: string[];
};

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

/** Prices and limits of a service: the member `x-panorama` of its OpenAPI description. */
export type Offer = {
  /** Credits of one panorama, by resolution. */
  prices: Record<Resolution, number>;
  active_tasks: number;
  /** Maximum number of requests per minute with one API key. */
  requests_per_minute: { read: number; write: number };
  uploads: {
    files: number;
    file_bytes: number;
    total_bytes: number;
    request_bytes: number;
    /** Hours until an unused uploaded image is deleted. Absent if unknown. */
    unused_hours?: number | undefined;
  };
  abilities: ServiceAbilities;
  /** `price_cents`: in hundredths of the currency, a code of ISO 4217. */
  credit_packs: { credits: number; price_cents: number; currency: string }[];
};

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
