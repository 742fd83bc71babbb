import type { Abilities } from "../../../domain/tasks/abilities.js";
import { PROMPT_CHARACTERS_MIN } from "../../../domain/tasks/creation-request.js";
import { countedImages } from "../../wording/sentences.js";

/** What a creation is made from, as the parts of the description say it. */
type CreationWords = {
  /** Follows "panoramas". */
  readonly from: string;
  /** A sentence: what a request needs. */
  readonly needs: string;
  /** Sentences: which fields a request has. */
  readonly has: string;
};

/** The words for an installation with these abilities. */
export const creationWords = (abilities: Abilities): CreationWords => {
  const { imagesMin, imagesMax, promptCharactersMax } = abilities;
  if (imagesMax === 0) {
    return {
      from: "from a text prompt",
      needs: `Needs a prompt of ${PROMPT_CHARACTERS_MIN} to ${promptCharactersMax} characters.`,
      has: `Has a prompt of at least ${PROMPT_CHARACTERS_MIN} characters. image_urls is refused unless it is empty.`,
    };
  }
  if (imagesMin > 0) {
    return {
      from: `from ${countedImages(abilities)}, with or without a text prompt`,
      needs: `Needs image_urls, with or without a prompt of at most ${promptCharactersMax} characters.`,
      has: "Has image_urls, with or without a prompt.",
    };
  }
  return {
    from: `from a text prompt, from up to ${countedImages(abilities)}, or from both`,
    needs: `Needs a prompt of ${PROMPT_CHARACTERS_MIN} to ${promptCharactersMax} characters, image_urls, or both.`,
    has: `Has a prompt, image_urls with at least one URL, or both. Without image_urls the prompt has at least ${PROMPT_CHARACTERS_MIN} characters.`,
  };
};
