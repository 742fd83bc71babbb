import { err, ok, type Result } from "neverthrow";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";

/** The white space around a prompt does not count. */
export const PROMPT_CHARACTERS_MAX = 4000;
/** The most reference images of one creation. */
export const IMAGE_URLS_MAX = 3;

/** What a model keeps of a creation. Whatever is beyond it is refused, because a model drops it without a word. */
export type Abilities = {
  /** The fewest reference images that it needs: 1 for a model that makes nothing from text alone. */
  readonly imagesMin: number;
  /** The most reference images that it keeps, at most 3. */
  readonly imagesMax: number;
  /** The longest prompt, in characters, at most 4000. */
  readonly promptCharactersMax: number;
};

/** What every creation request needs of a model that can make it. */
type Wanted = { readonly imageUrls: readonly string[]; readonly prompt: string | undefined };

/** Everything that the specification allows (Creation request). */
export const ALL_ABILITIES: Abilities = {
  imagesMin: 0,
  imagesMax: IMAGE_URLS_MAX,
  promptCharactersMax: PROMPT_CHARACTERS_MAX,
};

/** Whether a model with these abilities can make the panorama. The error names the field that it cannot keep. */
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
 * What at least one of several models can do, for clients to read. A request within it can still be too much for each
 * single one: 3 images with one model and 4000 characters with another.
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
