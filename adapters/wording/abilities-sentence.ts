import type { Abilities } from "../../domain/tasks/abilities.js";

type Images = Pick<Abilities, "imagesMin" | "imagesMax">;

/** "3", or "1 to 3" if there must be one. */
export const imagesRange = ({ imagesMin, imagesMax }: Images): string =>
  imagesMin > 0 && imagesMin < imagesMax ? `${imagesMin} to ${imagesMax}` : String(imagesMax);

/** "3 reference images", "1 picture". */
export const countedImages = (images: Images, noun = "reference image"): string =>
  `${imagesRange(images)} ${noun}${images.imagesMax === 1 ? "" : "s"}`;

/** How many reference images an installation takes. */
export const imagesSentence = (images: Images): string => {
  if (images.imagesMax === 0) return "This installation takes no reference images.";
  return `This installation ${images.imagesMin > 0 ? "needs" : "takes up to"} ${countedImages(images)}.`;
};

/** How long a prompt may be. */
export const promptSentence = ({ promptCharactersMax }: Pick<Abilities, "promptCharactersMax">): string =>
  `A prompt has at most ${promptCharactersMax} characters.`;
