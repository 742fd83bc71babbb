import { err, ok, Result } from "neverthrow";
import type { GenerationOrder } from "../../../../application/ports/generation-provider.js";
import { type PixelSize, RESOLUTIONS, type Resolution } from "../../../../domain/images/resolution.js";
import type { CreationRequest } from "../../../../domain/tasks/creation-request.js";
import { type CreationContext, correlationSeed } from "../dialect.js";
import {
  dataUri,
  type HostedImages,
  ofImage,
  type ReferenceFailure,
  referenceInput,
  unusableReference,
} from "../images/reference-input.js";
import { largeEnough, smallerReference } from "../images/smaller-reference.js";
import { referenceCanvas } from "../images/sphere-canvas.js";
import { type GivenAs, NEUTRAL_PROMPT } from "../leading-prompt.js";
import type { FalChoice } from "./fal-choice.js";
import { endpointFor, type FalEndpoint, type FalInputs, type FalModel } from "./fal-model.js";

type Context = Pick<CreationContext, "promptFor" | "storage" | "publicFetch">;

/** The body of a creation. */
export const falInput = async (
  model: FalModel,
  choice: Pick<FalChoice, "quality" | "loraUrl" | "references">,
  { taskId, request }: GenerationOrder,
  context: Context,
): Promise<Result<FalInputs, ReferenceFailure>> => {
  const { prompt = NEUTRAL_PROMPT, imageUrls, resolution } = request;
  const endpoint = endpointFor(model, imageUrls.length);
  if (endpoint === undefined) return err("the model has no endpoint for this number of reference images");
  const { prefix } = model;
  const { quality, loraUrl } = choice;
  const optional: Record<FalEndpoint["takes"][number], FalInputs> = {
    seed: { seed: correlationSeed(taskId) },
    quality: { quality },
    loras: loraUrl === undefined ? {} : { loras: [{ path: loraUrl, scale: 1 }] },
    // Comes with a canvas.
    mask_url: {},
  };
  const references: Result<References, ReferenceFailure> =
    choice.references === "canvas" && imageUrls.length > 0
      ? await canvasOf(endpoint, request, context)
      : (await separate(endpoint, imageUrls, context.storage)).map((inputs) => ({ inputs }));
  return references.map(({ inputs, givenAs }) => ({
    prompt:
      prefix === undefined
        ? context.promptFor(request, givenAs)
        : [prefix, prompt].filter((part) => part !== "").join(", "),
    ...inputs,
    ...endpoint.sizes[resolution],
    ...Object.assign({}, ...endpoint.takes.map((name) => optional[name])),
    ...endpoint.inputs,
  }));
};

type References = { readonly inputs: FalInputs; readonly givenAs?: GivenAs };

/** One picture in the size that the model is asked for, and the mask that keeps the photos in it. */
const canvasOf = async (
  endpoint: FalEndpoint,
  { imageUrls, resolution }: Pick<CreationRequest, "imageUrls" | "resolution">,
  context: Context,
): Promise<Result<References, ReferenceFailure>> => {
  const { references, needsMask = false } = endpoint;
  if (references === undefined) return err("the model takes no reference images");
  const drawn = await referenceCanvas(imageUrls, canvasSize(endpoint, resolution), context);
  return drawn.andThen(({ canvas, mask, givenAs }) => {
    const picture = dataUri("image/png", canvas);
    const inputs = { [references.input]: references.input === "image_url" ? picture : [picture] };
    if (givenAs === "canvas") return ok({ inputs: { ...inputs, mask_url: dataUri("image/png", mask) }, givenAs });
    return needsMask
      ? err(unusableReference("the model paints around photos, and the reference image is a whole panorama"))
      : ok({ inputs, givenAs });
  });
};

/** A model without a size of its own gives the canvas back in its size. Many repeat parts above two megapixels. */
const canvasSize = ({ sizes }: FalEndpoint, resolution: Resolution): PixelSize => {
  const { image_size: size } = sizes[resolution] as {
    image_size?: { readonly width: number; readonly height: number };
  };
  if (size !== undefined) return { widthPixels: size.width, heightPixels: size.height };
  return RESOLUTIONS[resolution === "1k" ? "1k" : "2k"];
};

const separate = async (
  { references }: FalEndpoint,
  imageUrls: readonly string[],
  storage: HostedImages,
): Promise<Result<FalInputs, ReferenceFailure>> => {
  if (imageUrls.length === 0) return ok({});
  if (references === undefined || imageUrls.length > references.max) {
    return err("the model does not keep all reference images");
  }
  const encode = async (bytes: Uint8Array): Promise<Result<string, string>> => {
    const smaller = await smallerReference(bytes);
    if (smaller.isErr()) return err(smaller.error);
    return (await largeEnough(smaller.value, references.edgePixelsMin)).map((sent) => dataUri(sent.type, sent.bytes));
  };
  const given = await Promise.all(
    imageUrls.map(async (url, index) => (await referenceInput(storage, url, encode)).mapErr(ofImage(index))),
  );
  return Result.combine(given).map((sent) => ({
    [references.input]: references.input === "image_url" ? sent[0] : sent,
  }));
};
