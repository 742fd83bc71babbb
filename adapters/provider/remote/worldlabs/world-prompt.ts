import { err, ok, Result } from "neverthrow";
import type { CreationRequest } from "../../../../domain/tasks/creation-request.js";
import { sizeOfImage } from "../../../system/image-header.js";
import { isPanorama } from "../../photo-views.js";
import {
  type HostedImages,
  hostedBytes,
  ofImage,
  type ReferenceFailure,
  unusableReference,
} from "../images/reference-input.js";
import { smallerReference } from "../images/smaller-reference.js";

/** The provider takes 10 MB. It does not say whether before or after base64, which makes four bytes of three. */
const BYTES_MAX = 7_500_000;

type Content =
  | { readonly source: "uri"; readonly uri: string }
  | { readonly source: "data_base64"; readonly data_base64: string; readonly extension: string };

/** `isPanorama` is `undefined` for a picture of another host, whose size is not known. */
type Picture = { readonly content: Content; readonly isPanorama: boolean | undefined };

/**
 * The input of a world. The prompt of the customer is sent alone: the model was made for whole spheres, and another
 * field says how the pictures lie around the viewer. Without a prompt the provider describes the pictures itself. The
 * error is a reason for the log, or the failure of the creation.
 */
export const worldPrompt = async (
  { prompt, imageUrls }: Pick<CreationRequest, "prompt" | "imageUrls">,
  storage: HostedImages,
): Promise<Result<object, ReferenceFailure>> => {
  const text = prompt === undefined ? {} : { text_prompt: prompt };
  const read = Result.combine(
    await Promise.all(imageUrls.map(async (url, index) => (await pictureOf(url, storage)).mapErr(ofImage(index)))),
  );
  return read.map((pictures) => {
    const [only, ...others] = pictures;
    if (only === undefined) return { type: "text", ...text };
    if (others.length > 0) return { type: "multi-image", multi_image_prompt: pictures.map(placed), ...text };
    // Without `is_pano` the provider decides by itself.
    const isPano = only.isPanorama === undefined ? {} : { is_pano: only.isPanorama };
    return { type: "image", image_prompt: only.content, ...isPano, ...text };
  });
};

/** In degrees, evenly around the viewer and clockwise from straight ahead, as photo-views.ts places the pictures. */
const placed = ({ content }: Picture, index: number, { length }: readonly Picture[]) => ({
  azimuth: (index / length) * 360,
  content,
});

const pictureOf = async (url: string, storage: HostedImages): Promise<Result<Picture, ReferenceFailure>> => {
  const hosted = await hostedBytes(storage, url);
  if (hosted.isErr()) return err(hosted.error);
  if (hosted.value === undefined) return ok({ content: { source: "uri", uri: url }, isPanorama: undefined });
  const smaller = await smallerReference(hosted.value, { bytesMax: BYTES_MAX });
  if (smaller.isErr()) return err(unusableReference(smaller.error));
  const { type, bytes } = smaller.value;
  const size = await sizeOfImage(bytes);
  if (size.isErr()) return err(unusableReference(`a reference image: ${size.error}`));
  const extension = type === "image/jpeg" ? "jpg" : type.slice("image/".length);
  const data = Buffer.from(bytes).toString("base64");
  return ok({
    content: { source: "data_base64", data_base64: data, extension },
    isPanorama: isPanorama(size.value),
  });
};
