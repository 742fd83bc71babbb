import type { Result } from "neverthrow";
import type { ImageType } from "../../domain/image-type.js";
import type { PixelSize } from "../../domain/resolution.js";

/** The bytes are no image that we take; `reason` is a sentence for people. */
export type UnusableImage = { readonly kind: "unusable_image"; readonly reason: string };

/** Looks into images and makes them. Guards itself against decompression bombs. */
export interface Imaging {
  /** Whether the bytes are an image of this type at all, of a size that may be decoded; reads the header only. */
  inspect(bytes: Uint8Array, type: ImageType): Promise<Result<PixelSize, UnusableImage>>;
  /** A JPEG of exactly this size with Photo Sphere XMP; refuses what is not a 2:1 image (within 1 %). */
  panorama(bytes: Uint8Array, size: PixelSize): Promise<Result<Uint8Array, UnusableImage>>;
  /** A WebP of 512 × 256 pixels. */
  thumbnail(panorama: Uint8Array): Promise<Result<Uint8Array, UnusableImage>>;
}
