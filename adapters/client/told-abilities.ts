import * as z from "zod";
import { RESOLUTION_NAMES } from "../../domain/images/resolution.js";
import { type Abilities, IMAGE_URLS_MAX, PROMPT_CHARACTERS_MAX } from "../../domain/tasks/abilities.js";

/** What an installation can make: the answer to `GET /abilities`, and a member of `x-panorama`. */
export const toldAbilitiesSchema = z.object({
  /** The fewest reference images: with 1, a prompt alone is not enough. */
  images_min: z.int().min(0),
  images_max: z.int().min(0),
  /** In characters, as `[...prompt].length` counts them. */
  prompt_characters_max: z.int().min(0),
  resolutions: z.array(z.string()),
});

/** What `toldAbilitiesSchema` reads. */
export type ToldAbilities = z.infer<typeof toldAbilitiesSchema>;

/** How the service tells its abilities. Every model makes every size: a smaller or larger picture is scaled. */
export const toldAbilities = ({ imagesMin, imagesMax, promptCharactersMax }: Abilities) => ({
  images_min: imagesMin,
  images_max: imagesMax,
  prompt_characters_max: promptCharactersMax,
  resolutions: [...RESOLUTION_NAMES],
});

/** What a service can make of what this version can send. */
export const abilitiesOf = ({ images_min, images_max, prompt_characters_max }: ToldAbilities): Abilities => ({
  imagesMin: images_min,
  imagesMax: Math.min(images_max, IMAGE_URLS_MAX),
  promptCharactersMax: Math.min(prompt_characters_max, PROMPT_CHARACTERS_MAX),
});
