import type { Sharp } from "sharp";
import type { PixelSize } from "../../domain/images/resolution.js";
import { decoding } from "../system/load-sharp.js";

/** Wide enough to show a place, and not so wide that it looks bent. */
const FIELD_OF_VIEW_DEGREES = 95;
/** More pixels of the panorama than the view can show are not decoded. */
const DECODED_WIDTH_MAX = 4096;
/** Rows between two pauses, so that requests do not wait for a whole view. */
const ROWS_AT_ONCE = 40;

/**
 * The view straight ahead from inside an equirectangular image, as `encode` writes it. Throws if the image cannot be
 * decoded.
 */
export const perspectiveView = (
  panorama: Uint8Array,
  size: PixelSize,
  encode: (view: Sharp) => Promise<Uint8Array>,
): Promise<Uint8Array> =>
  decoding(async (sharp) => {
    const { data, info } = await sharp(panorama, { failOn: "error" })
      .resize({ width: DECODED_WIDTH_MAX, withoutEnlargement: true })
      .removeAlpha()
      .toColourspace("srgb")
      .raw()
      .toBuffer({ resolveWithObject: true });
    const { widthPixels: width, heightPixels: height } = size;
    const view = new Uint8Array(width * height * 3);
    for (let from = 0; from < height; from += ROWS_AT_ONCE) {
      paintRows({ data, ...info }, { ...size, data: view }, from, Math.min(height, from + ROWS_AT_ONCE));
      await new Promise((resolve) => setImmediate(resolve));
    }
    return encode(sharp(view, { raw: { width, height, channels: 3 } }));
  });

const paintRows = (
  { data, width, height }: { readonly data: Uint8Array; readonly width: number; readonly height: number },
  { data: view, widthPixels, heightPixels }: PixelSize & { readonly data: Uint8Array },
  from: number,
  to: number,
): void => {
  const step = (2 * Math.tan((FIELD_OF_VIEW_DEGREES * Math.PI) / 360)) / widthPixels;
  let target = from * widthPixels * 3;
  for (let row = from; row < to; row += 1) {
    const up = (heightPixels / 2 - row - 0.5) * step;
    for (let column = 0; column < widthPixels; column += 1) {
      const right = (column + 0.5 - widthPixels / 2) * step;
      const x = (Math.atan(right) / (2 * Math.PI) + 0.5) * width - 0.5;
      const y = (0.5 - Math.atan(up / Math.hypot(right, 1)) / Math.PI) * height - 0.5;
      const left = Math.floor(x);
      const top = Math.floor(y);
      const [a, b] = [x - left, y - top];
      const first = (top * width + left) * 3;
      const below = first + width * 3;
      // The view ends far from the edges of the panorama, so all four neighbours exist.
      for (let c = 0; c < 3; c += 1) {
        const high = (data[first + c] ?? 0) * (1 - a) + (data[first + 3 + c] ?? 0) * a;
        const low = (data[below + c] ?? 0) * (1 - a) + (data[below + 3 + c] ?? 0) * a;
        view[target + c] = high * (1 - b) + low * b + 0.5;
      }
      target += 3;
    }
  }
};
