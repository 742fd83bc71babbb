import { err, ok, Result } from "neverthrow";
import * as z from "zod";
import type { GenerationOrder } from "../../../../application/ports/generation-provider.js";
import { nonEmpty } from "../answers/read-answer.js";
import { type CreationContext, correlationSeed } from "../dialect.js";
import { paintMask, panoramaCanvas } from "../images/panorama-canvas.js";
import {
  dataUri,
  fileOf,
  hostedBytes,
  ofImage,
  type ReferenceFailure,
  referenceBytes,
  unusableReference,
} from "../images/reference-input.js";
import type { ModelInputs } from "./model-inputs.js";

/** `TOK` is the trigger word of FLUX LoRAs that were trained on Replicate. */
const LORA_PREFIX = "TOK, 360 degree equirectangular panorama, seamless";
/** The characters before the customer's words in the prompt of a model that takes a canvas. */
export const LORA_PREFIX_CHARACTERS = `${LORA_PREFIX}, `.length;
/** `prompt_strength` without a mask: 0 keeps the image, 1 ignores it. The models' default, 0.8, repaints too much. */
const UNMASKED_PROMPT_STRENGTH = 0.6;
/** `prompt_strength` with a mask. High: the mask protects the photo, so only the area around it is repainted. */
const MASKED_PROMPT_STRENGTH = 0.95;
/** Replicate accepts data URIs of up to 256 kB. Base64 turns three bytes into four characters. */
const DATA_URI_BYTES_MAX = 190_000;

const uploadedSchema = z.object({ urls: z.object({ get: nonEmpty }) });

export const predictionInput = async (
  { constants, sizes, references, hasSeed }: ModelInputs,
  { taskId, request }: GenerationOrder,
  context: CreationContext,
): Promise<Result<object, ReferenceFailure>> => {
  const { widthPixels: width, heightPixels: height } = sizes[request.resolution];
  const settings = { ...constants, width, height, ...(hasSeed && { seed: correlationSeed(taskId) }) };
  const { imageUrls, prompt } = request;
  switch (references.kind) {
    case "list": {
      if (imageUrls.length > references.max) return err(tooMany(references.max));
      const sent = imageUrls.map(async (url, index) => (await referenceUrl(url, context)).mapErr(ofImage(index)));
      const images = Result.combine(await Promise.all(sent));
      return images.map((urls) => ({
        ...settings,
        prompt: context.promptFor(request),
        ...(urls.length > 0 && { [references.input]: urls }),
      }));
    }
    case "canvas": {
      if (imageUrls.length > 1) return err(tooMany(1));
      const [url] = imageUrls;
      const canvasInputs = url === undefined ? ok({}) : await canvasOf(context, url, references.hasMask);
      const text = prompt === undefined ? LORA_PREFIX : `${LORA_PREFIX}, ${prompt}`;
      return canvasInputs.map((inputs) => ({ ...settings, prompt: text, ...inputs }));
    }
    case "none":
      if (imageUrls.length > 0) return err(tooMany(0));
      return ok({ ...settings, prompt: context.promptFor(request) });
  }
};

/** Needed because a request that was accepted before the schema was read may have any number of images. */
const tooMany = (max: number): string => `the model keeps at most ${max} reference images; nothing was sent`;

/**
 * Returns the URL of a reference image for Replicate: a data URI for a small image of this service, the URL of an
 * upload for a larger one, any other URL unchanged.
 */
const referenceUrl = async (url: string, context: CreationContext): Promise<Result<string, ReferenceFailure>> => {
  const hosted = await hostedBytes(context.storage, url);
  if (hosted.isErr()) return err(hosted.error);
  if (hosted.value === undefined) return ok(url);
  const read = await fileOf(hosted.value);
  if (read.isErr()) return err(read.error);
  const { name, type, bytes } = read.value;
  if (bytes.length <= DATA_URI_BYTES_MAX) return ok(dataUri(type, bytes));
  const sent = await context.upload("/files", { fields: {}, file: { field: "content", name, type, bytes } });
  return sent.andThen((body): Result<string, ReferenceFailure> => {
    const { data } = uploadedSchema.safeParse(body);
    return data === undefined ? err("the answer to the upload of a reference image has no URL") : ok(data.urls.get);
  });
};

type CanvasInputs = { readonly image: string; readonly mask?: string; readonly prompt_strength: number };

/**
 * The result has the size of the input image, so the image is placed on a 2:1 canvas, also one of another host. A mask
 * protects the photo if the model accepts one, otherwise a lower `prompt_strength` does.
 */
const canvasOf = async (
  { storage, publicFetch }: CreationContext,
  url: string,
  hasMask: boolean,
): Promise<Result<CanvasInputs, ReferenceFailure>> => {
  const bytes = await referenceBytes(storage, publicFetch, url);
  if (bytes.isErr()) return err(bytes.error);
  const canvas = await panoramaCanvas(bytes.value);
  if (canvas.isErr()) return err(unusableReference(canvas.error));
  const { jpeg, photo } = canvas.value;
  const image = dataUri("image/jpeg", jpeg);
  if (!hasMask || photo === undefined) return ok({ image, prompt_strength: UNMASKED_PROMPT_STRENGTH });
  const mask = dataUri("image/png", await paintMask(photo));
  return ok({ image, mask, prompt_strength: MASKED_PROMPT_STRENGTH });
};
