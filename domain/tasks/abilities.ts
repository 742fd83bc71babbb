import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";

/** Maximum length of a prompt, without white space around it. */
export const PROMPT_CHARACTERS_MAX = 4000;
/** Maximum number of reference images of a creation. */
export const IMAGE_URLS_MAX = 3;

/** Limits of a model. Requests beyond them are refused, because a model would ignore the rest silently. */
export type Abilities = {
  /** Minimum number of reference images: 1 for a model that makes nothing from text alone. */
  readonly imagesMin: number;
  /** Maximum number of reference images, at most 3. */
  readonly imagesMax: number;
  /** Maximum length of a prompt, in characters, at most 4000. */
  readonly promptCharactersMax: number;
};

/** The part of a creation request that is compared with the abilities. */
type Wanted = { readonly imageUrls: readonly string[]; readonly prompt: string | undefined };

/** Everything that the specification allows (Creation request). */
export const ALL_ABILITIES: Abilities = {
  imagesMin: 0,
  imagesMax: IMAGE_URLS_MAX,
  promptCharactersMax: PROMPT_CHARACTERS_MAX,
};

/** Checks that a model with these abilities can make the panorama. The error names the field beyond the limit. */
export const admitAbilities = (
  { imagesMin, imagesMax, promptCharactersMax }: Abilities,
  { imageUrls, prompt = "" }: Wanted,
): Result<void, InvalidRequest> => {
  const images = imageUrls.length;
  if (images < imagesMin) return err(invalidRequest("image_urls", { name: "images_only" }));
  if (images > imagesMax) {
    const rule = { name: "items_max", max: imagesMax, actual: images } as const;
    return err(invalidRequest("image_urls", imagesMax === 0 ? { name: "text_only" } : rule));
  }
  // A character has one or two code units: most prompts need not be counted.
  if (prompt.length <= promptCharactersMax) return ok(undefined);
  const characters = [...prompt].length;
  if (characters <= promptCharactersMax) return ok(undefined);
  return err(invalidRequest("prompt", { name: "characters_max", max: promptCharactersMax, actual: characters }));
};

/**
 * The combined abilities of several models, for clients. A request within them can still be too much for each single
 * model: 3 images with one and 4000 characters with another.
 */
export const abilitiesOfAny = ([first, ...others]: readonly [Abilities, ...Abilities[]]): Abilities =>
  others.reduce(
    (any, one) => ({
      imagesMin: Math.min(any.imagesMin, one.imagesMin),
      imagesMax: Math.max(any.imagesMax, one.imagesMax),
      promptCharactersMax: Math.max(any.promptCharactersMax, one.promptCharactersMax),
    }),
    first,
  );
