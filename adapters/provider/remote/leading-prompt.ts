import type { CreationRequest } from "../../../domain/tasks/creation-request.js";

/**
 * Prompt for a model that was not trained on panoramas. `{prompt}` is the unchanged prompt of the customer.
 * `{references}` describes the reference images; it is empty without them. The operator may replace this prompt
 * (`providerPrompt` in the settings file).
 */
export const PROMPT_TEMPLATE =
  "A seamless 360° panorama in equirectangular projection, 2:1, that shows the whole sphere around one viewer. " +
  "The left edge continues at the right edge. The horizon is a straight line at half the height. " +
  "The top row is the point straight above, the bottom row the point straight below. " +
  "No frame, no text, no border. {references}The scene: {prompt}";

/** For providers that require a prompt, where the customer has sent only a picture. */
export const NEUTRAL_PROMPT = "a photorealistic panorama of the place in the picture";

/** Neutral prompt for models that need the template. */
const NO_PROMPT = "the place that the pictures show";

/**
 * How the reference images are given to the model: `separate` as they are; as one `canvas` with a mask, on which they
 * are projected (images/sphere-canvas.ts); or as one `panorama` without a mask, because the only one is a panorama.
 */
export type GivenAs = "separate" | "canvas" | "panorama";

/** As photo-views.ts places them, for their number. */
const DIRECTIONS: Readonly<Record<number, readonly string[]>> = {
  1: ["straight ahead, in the middle of the panorama"],
  2: ["straight ahead, in the middle of the panorama", "behind the viewer, at the left and right edges"],
  3: [
    "straight ahead, in the middle of the panorama",
    "to the right behind the viewer, at five sixths of the width",
    "to the left behind the viewer, at one sixth of the width",
  ],
};

/** Ends with a space, because the template continues after it. */
const REFERENCES: Readonly<Record<GivenAs, (directions: readonly string[]) => string>> = {
  separate: (directions) => {
    const lies = directions.map((where, index) => `image ${index + 1} lies ${where}`);
    return `Of the pictures given, ${lies.join("; ")}. Keep what they show, and paint one world that joins them. `;
  },
  canvas: (directions) =>
    `The given picture is this panorama with parts already painted: ${directions.join("; ")}. ` +
    "Keep these parts as they are, and paint the rest, so that all is one world without visible borders. ",
  panorama: () =>
    "The given picture is such a panorama already. Keep its shape and what it shows, except for what the scene changes. ",
};

/** The prompt for a model that was not trained on panoramas. The customer's words stay as they are. */
export const leadingPrompt = (
  { prompt = NO_PROMPT, imageUrls }: Pick<CreationRequest, "prompt" | "imageUrls">,
  template = PROMPT_TEMPLATE,
  givenAs: GivenAs = "separate",
): string => {
  const directions = DIRECTIONS[imageUrls.length];
  const references = directions === undefined ? "" : REFERENCES[givenAs](directions);
  // Not `replaceAll` with a text: a prompt may contain `$&`.
  return template.replaceAll("{references}", () => references).replaceAll("{prompt}", () => prompt);
};

/** The characters that `leadingPrompt` adds at most: a model takes so many fewer of the customer's prompt. */
export const leadingCharacters = (template?: string): number =>
  Math.max(
    ...Object.keys(DIRECTIONS).flatMap((count) => {
      const request = { prompt: "", imageUrls: Array(Number(count)).fill("") };
      const givenAs = Object.keys(REFERENCES) as GivenAs[];
      return givenAs.map((given) => [...leadingPrompt(request, template, given)].length);
    }),
  );
