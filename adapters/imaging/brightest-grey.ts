import { decoding } from "../system/load-sharp.js";

/** Blocks of about 1.4°, the size of a small letter on the landing page: text can be on one bright spot. */
const BLOCKS = { width: 256, height: 128 };

const linear = (level: number): number => (level <= 10 ? level / 255 / 12.92 : ((level / 255 + 0.055) / 1.055) ** 2.4);

/**
 * The grey, from 0 to 255, that is as bright as the brightest block of a picture, by the relative luminance of WCAG.
 * Throws if the picture cannot be decoded.
 */
export const brightestGrey = async (image: Uint8Array): Promise<number> => {
  const { data } = await decoding((sharp) =>
    sharp(image, { failOn: "error" })
      .removeAlpha()
      .toColourspace("srgb")
      .resize({ ...BLOCKS, fit: "fill", kernel: "linear" })
      .raw()
      .toBuffer({ resolveWithObject: true }),
  );
  let brightest = 0;
  for (let at = 0; at + 2 < data.length; at += 3) {
    const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3);
    brightest = Math.max(brightest, 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue));
  }
  const encoded = brightest <= 0.0031308 ? 12.92 * brightest : 1.055 * brightest ** (1 / 2.4) - 0.055;
  return Math.round(255 * encoded);
};
