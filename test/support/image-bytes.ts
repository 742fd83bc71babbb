/** The given number of bytes, with a PNG signature but no valid image after it. */
export const pngBytes = (bytes: number, filling = 1): Uint8Array => {
  const image = new Uint8Array(bytes).fill(filling);
  image.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return image;
};

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
