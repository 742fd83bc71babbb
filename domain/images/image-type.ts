/** The image types that are accepted and stored (specification, Limits). */
export const IMAGE_TYPES = ["image/jpeg", "image/png", "image/webp"] as const;
/** One of `IMAGE_TYPES`. */
export type ImageType = (typeof IMAGE_TYPES)[number];

/** The extension of a file of each type, without a dot. */
export const FILE_EXTENSIONS = {
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/webp": "webp",
} as const satisfies Record<ImageType, string>;

/**
 * Maximum pixels of an upload. Photos of phones have up to 108 megapixels. Decoders reduce them line by line, so that
 * the memory does not grow with them.
 */
export const IMAGE_PIXELS_MAX = 120_000_000;
/**
 * Maximum pixels of progressive JPEGs, interlaced and damaged PNGs, whose decoding takes up to 6 bytes of memory per
 * pixel.
 */
export const PROGRESSIVE_PIXELS_MAX = 40_000_000;

/** Number of bytes from the start of a file that `imageTypeOf` needs. */
export const SIGNATURE_BYTES = 12;

const startsWith = (bytes: Uint8Array, signature: readonly number[], at = 0): boolean =>
  signature.every((byte, index) => bytes[at + index] === byte);

/** The type by file signature; `undefined` for any type that is not accepted. */
export const imageTypeOf = (bytes: Uint8Array): ImageType | undefined => {
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  const riff = startsWith(bytes, [0x52, 0x49, 0x46, 0x46]) && startsWith(bytes, [0x57, 0x45, 0x42, 0x50], 8);
  return riff ? "image/webp" : undefined;
};
