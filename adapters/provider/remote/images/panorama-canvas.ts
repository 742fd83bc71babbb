import { err, ok, type Result } from "neverthrow";
import type { Sharp } from "sharp";
import { IMAGE_PIXELS_MAX } from "../../../../domain/images/image-type.js";
import { decoding, type ImageLibrary } from "../../../system/load-sharp.js";
import type { SoundPicture } from "../../../system/sound-picture.js";
import { isPanorama } from "../../photo-views.js";
import { soundReference } from "../../sound-reference.js";

const WIDTH_PIXELS = 1440;
const HEIGHT_PIXELS = 720;
/** A photo covers at most 120° horizontally: near the horizon the distortion is small. */
const PHOTO_WIDTH_PIXELS = WIDTH_PIXELS / 3;
const PHOTO_HEIGHT_PIXELS = HEIGHT_PIXELS / 2;
/** Replicate accepts data URIs of at most 256 KB; base64 turns three bytes into four characters. */
const BYTES_MAX = 190_000;
const QUALITIES = [90, 75, 50, 25, 10, 3];

/** `photo`: where the photo is on the canvas; `undefined` if the image fills it. */
export type PanoramaCanvas = { readonly jpeg: Buffer; readonly photo: Area | undefined };
type Area = { readonly left: number; readonly top: number; readonly width: number; readonly height: number };

/**
 * Encodes a reference image as a JPEG of 1440 × 720 pixels that a model reads as a panorama. A 2:1 image is scaled;
 * any other is placed in the middle of a canvas of its average colour. The error is a reason for the log.
 */
export const panoramaCanvas = async (bytes: Uint8Array): Promise<Result<PanoramaCanvas, string>> => {
  const sound = await soundReference(bytes);
  if (sound.isErr()) return err(sound.error);
  try {
    return await decoding(async (sharp) => {
      const { canvas, photo } = await draw(sharp, sound.value);
      for (const quality of QUALITIES) {
        const encoded = await canvas.clone().jpeg({ quality }).toBuffer();
        if (encoded.length <= BYTES_MAX) return ok({ jpeg: encoded, photo });
      }
      return err("a reference image cannot be made small enough");
    });
  } catch {
    return err("a reference image cannot be decoded");
  }
};

/** The model may repaint this much of a photo's edge, so that photo and surroundings join without a line. */
const JOIN_PIXELS_MAX = 16;

/** The mask for a photo on the canvas, as PNG: black is kept, white is painted. */
export const paintMask = ({ left, top, width, height }: Area): Promise<Buffer> => {
  const join = Math.min(JOIN_PIXELS_MAX, Math.floor(Math.min(width, height) / 8));
  const kept = { width: width - 2 * join, height: height - 2 * join };
  return decoding((sharp) =>
    sharp({ create: { width: WIDTH_PIXELS, height: HEIGHT_PIXELS, channels: 3, background: "white" } })
      .composite([
        {
          input: { create: { ...kept, channels: 3, background: "black" } },
          left: left + join,
          top: top + join,
        },
      ])
      .png({ palette: true, colours: 2 })
      .toBuffer(),
  );
};

type Drawing = { readonly canvas: Sharp; readonly photo: Area | undefined };

const draw = async (sharp: ImageLibrary, { bytes, size }: SoundPicture): Promise<Drawing> => {
  const upright = () => sharp(bytes, { limitInputPixels: IMAGE_PIXELS_MAX }).rotate().toColourspace("srgb");
  if (isPanorama(size)) {
    const canvas = upright().flatten().resize(WIDTH_PIXELS, HEIGHT_PIXELS, { fit: "fill" });
    return { canvas, photo: undefined };
  }
  const average = await upright().flatten().resize(1, 1, { fit: "fill" }).raw().toBuffer();
  const [r = 0, g = 0, b = 0] = average;
  const background = { r, g, b };
  const { data: input, info } = await upright()
    .flatten()
    .resize(PHOTO_WIDTH_PIXELS, PHOTO_HEIGHT_PIXELS, { fit: "inside" })
    .png()
    .toBuffer({ resolveWithObject: true });
  const photo = {
    left: Math.floor((WIDTH_PIXELS - info.width) / 2),
    top: Math.floor((HEIGHT_PIXELS - info.height) / 2),
    width: info.width,
    height: info.height,
  };
  const composed = sharp({ create: { width: WIDTH_PIXELS, height: HEIGHT_PIXELS, channels: 3, background } })
    .composite([{ input, left: photo.left, top: photo.top }])
    .png();
  return { canvas: sharp(await composed.toBuffer()).flatten(), photo };
};
