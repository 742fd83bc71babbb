import { ok } from "neverthrow";
import * as z from "zod";
import type { UseCases } from "../../../application/create-application.js";
import { RESOLUTION_NAMES } from "../../../domain/images/resolution.js";
import { IMAGE_URLS_MAX, PROMPT_CHARACTERS_MAX } from "../../../domain/tasks/abilities.js";
import { toldAbilities } from "../../client/told-abilities.js";
import { json } from "../replies/reply.js";
import type { GuardedHandler } from "./guard.js";

const images = z.int().min(0).max(IMAGE_URLS_MAX);

/** What `GET /abilities` answers. */
export const abilitiesResponseSchema = z
  .object({
    images_min: images.meta({
      description: "The fewest image_urls of a creation: with 1, a prompt alone is not enough.",
    }),
    images_max: images.meta({ description: "The most image_urls of a creation." }),
    prompt_characters_max: z
      .int()
      .min(1)
      .max(PROMPT_CHARACTERS_MAX)
      .meta({ description: "The longest prompt, in characters." }),
    resolutions: z.array(z.enum(RESOLUTION_NAMES)).meta({ description: "The sizes that can be created." }),
  })
  .meta({ id: "AbilitiesResponse" });

/** `GET /abilities`. */
export const readAbilitiesRoute =
  (panoramas: Pick<UseCases["panoramas"], "readAbilities">): GuardedHandler =>
  () => {
    const body: z.infer<typeof abilitiesResponseSchema> = toldAbilities(panoramas.readAbilities());
    return ok(json(200, body));
  };
