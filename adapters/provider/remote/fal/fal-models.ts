import { err, ok, type Result } from "neverthrow";
import type { GenerationOrder } from "../../../../application/ports/generation-provider.js";
import type { CreationRequest } from "../../../../domain/creation-request.js";
import { type InvalidRequest, invalidRequest } from "../../../../domain/invalid-request.js";
import { RESOLUTIONS } from "../../../../domain/resolution.js";
import { correlationSeed } from "../correlation-seed.js";
import { dataUriOf } from "../images/data-uri.js";
import { type HostedImages, referenceInput } from "../images/reference-input.js";
import { NEUTRAL_PROMPT } from "../neutral-prompt.js";

/**
 * The models of fal that make panoramas: `hunyuan_world` from an image, `flux-lora` from text, with the weights of a
 * LoRA that is trained on panoramas.
 */
export type FalModel =
  | { readonly id: "fal-ai/hunyuan_world" }
  | { readonly id: "fal-ai/flux-lora"; readonly loraUrl: string };

export const FAL_MODELS = ["fal-ai/hunyuan_world", "fal-ai/flux-lora"] as const satisfies FalModel["id"][];

/** Whether the inputs of a request contain our mark, the seed, so that a lost submission can be found. */
export const falModelHasSeed = ({ id }: FalModel): boolean => id === "fal-ai/flux-lora";

const PROMPT_PREFIX = "360 degree equirectangular panorama, seamless";
/** Above two megapixels FLUX repeats parts of the picture. */
const FLUX_LARGEST = RESOLUTIONS["2k"];

export const falModelCanMake = ({ id }: FalModel, { imageUrls }: CreationRequest): Result<void, InvalidRequest> => {
  if (id === "fal-ai/hunyuan_world" && imageUrls.length === 0) {
    return err(invalidRequest("image_urls", { name: "images_only" }));
  }
  return id === "fal-ai/flux-lora" && imageUrls.length > 0
    ? err(invalidRequest("image_urls", { name: "text_only" }))
    : ok(undefined);
};

/** The body of a creation; the error is a reason for the log. */
export const falInput = async (
  model: FalModel,
  { taskId, request: { prompt, imageUrls, resolution } }: GenerationOrder,
  storage: HostedImages,
): Promise<Result<object, string>> => {
  switch (model.id) {
    case "fal-ai/hunyuan_world": {
      const image = await referenceInput(storage, imageUrls[0] ?? "", dataUriOf);
      return image.map((image_url) => ({ prompt: prompt ?? NEUTRAL_PROMPT, image_url }));
    }
    case "fal-ai/flux-lora": {
      const { widthPixels: width, heightPixels: height } = resolution === "1k" ? RESOLUTIONS[resolution] : FLUX_LARGEST;
      return ok({
        prompt: `${PROMPT_PREFIX}, ${prompt}`,
        image_size: { width, height },
        loras: [{ path: model.loraUrl, scale: 1 }],
        num_images: 1,
        seed: correlationSeed(taskId),
        output_format: "png",
      });
    }
  }
};
