import { err, Result } from "neverthrow";
import type { PixelSize } from "../../../../domain/images/resolution.js";
import { referenceBytes } from "./reference-bytes.js";
import { ofImage, type ReferenceFailure, unusableReference } from "./reference-failure.js";
import type { ReferenceSources } from "./reference-input.js";
import { type SphereCanvas, sphereCanvas } from "./sphere-canvas.js";

/**
 * The reference images of a request on one canvas. This service reads them all, also from foreign URLs, which a
 * provider would read itself otherwise.
 */
export const referenceCanvas = async (
  imageUrls: readonly string[],
  size: PixelSize,
  { storage, publicFetch }: ReferenceSources,
): Promise<Result<SphereCanvas, ReferenceFailure>> => {
  const read = await Promise.all(
    imageUrls.map(async (url, index) => (await referenceBytes(storage, publicFetch, url)).mapErr(ofImage(index))),
  );
  const photos = Result.combine(read);
  return photos.isErr() ? err(photos.error) : (await sphereCanvas(photos.value, size)).mapErr(unusableReference);
};
