import type { GenerationOrder } from "../../../../application/ports/generation-provider.js";
import { RESOLUTIONS } from "../../../../domain/images/resolution.js";
import { correlationSeed } from "../correlation-seed.js";
import type { CreationContext } from "../dialect.js";
import { NEUTRAL_PROMPT } from "../leading-prompt.js";
import type { PlaceholderValues } from "./workflow.js";

/** Open models repeat parts of the picture above two megapixels. */
const LARGEST = RESOLUTIONS["2k"];
const NEGATIVE_PROMPT = "blurry, low quality, distorted, text, watermark, frame, border, visible seam";

/** What the placeholders of an order become, images excepted. */
export const workflowText = (
  { taskId, request }: GenerationOrder,
  { promptFor }: Pick<CreationContext, "promptFor">,
): PlaceholderValues<never>["text"] => {
  const { widthPixels, heightPixels } = request.resolution === "1k" ? RESOLUTIONS[request.resolution] : LARGEST;
  return {
    prompt: request.prompt ?? NEUTRAL_PROMPT,
    leading_prompt: promptFor(request),
    negative_prompt: NEGATIVE_PROMPT,
    seed: request.seed ?? correlationSeed(taskId),
    width: widthPixels,
    height: heightPixels,
  };
};
