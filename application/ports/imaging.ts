import type { Result } from "neverthrow";
import type { ImageType } from "../../domain/images/image-type.js";
import type { Picture } from "../../domain/images/picture.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import type { DigitalSourceType } from "../../domain/images/source-type.js";

/** The bytes are not an acceptable image. `reason` is a clause without a full stop: "it has 512 × 512 pixels". */
export type UnusableImage = { readonly kind: "unusable_image"; readonly reason: string };

/** A panorama as JPEG, with the measured figures of its source picture. */
export type EncodedPanorama = Picture & { readonly bytes: Uint8Array };

/** Inspects and encodes images. Rejects decompression bombs. */
export interface Imaging {
  /**
   * Returns the size of a customer's picture. Rejects damaged pictures and pictures that are too large to decode.
   * Decodes the bytes once.
   */
  inspect(bytes: Uint8Array): Promise<Result<PixelSize, UnusableImage>>;
  /**
   * Removes personal metadata: place, time, camera, names, comments. Keeps pixels, colour profile and orientation. The
   * same bytes give the same bytes.
   */
  withoutPersonalData(bytes: Uint8Array, type: ImageType): Promise<Uint8Array>;
  /**
   * Returns a JPEG of exactly this size with Photo Sphere XMP, without a visible seam between its left and right edge.
   * Rejects images that are not 2:1 (within 1 %). Decodes the bytes once. `sourceType` is written into the C2PA
   * manifest and the XMP; default: `trainedAlgorithmicMedia`. Throws if signing fails; retry later.
   */
  panorama(
    bytes: Uint8Array,
    size: PixelSize,
    sourceType?: DigitalSourceType,
  ): Promise<Result<EncodedPanorama, UnusableImage>>;
  /** Returns a WebP of 1024 × 512 pixels, signed like the panorama. Throws if signing fails. */
  thumbnail(panorama: Uint8Array): Promise<Result<Uint8Array, UnusableImage>>;
}
