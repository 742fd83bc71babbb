import { err, ok, type Result } from "neverthrow";
import type { EncodedPanorama, Imaging, UnusableImage } from "../../application/ports/imaging.js";
import { imageTypeOf } from "../../domain/images/image-type.js";
import type { ResultFigures } from "../../domain/images/picture.js";
import type { PixelSize } from "../../domain/images/resolution.js";

/**
 * Imaging without an image library, for tests: it decodes nothing and makes no pictures. It accepts all bytes that
 * start with an image's signature, reports 1024 × 512 pixels, and returns bytes that describe what it did: `readable`
 * gives "1024×512 of https://…", "thumbnail of 1024×512 of …" or "tiles of …".
 */
export class MemoryImaging implements Imaging {
  /** While false, `thumbnail` fails. */
  thumbnails = true;
  /** Figures that are measured in every picture. */
  figures: ResultFigures = { seam: 0, seamRatio: 1, poleDeviation: { zenith: 0, nadir: 0 }, horizon: 0.5 };
  /** Pictures that were decoded. */
  decoded = 0;

  async inspect(bytes: Uint8Array): Promise<Result<PixelSize, UnusableImage>> {
    this.decoded += 1;
    return imageTypeOf(bytes) === undefined ? err(unusable) : ok({ widthPixels: 1024, heightPixels: 512 });
  }

  /** Drops what follows a `#`. */
  async withoutPersonalData(bytes: Uint8Array): Promise<Uint8Array> {
    const start = bytes.indexOf(PERSONAL);
    return start === -1 ? bytes : bytes.subarray(0, start);
  }

  /** A picture of `black` is flat. */
  async panorama(bytes: Uint8Array, size: PixelSize): Promise<Result<EncodedPanorama, UnusableImage>> {
    this.decoded += 1;
    if (imageTypeOf(bytes) === undefined) return err(unusable);
    const text = readable(bytes);
    const made = image(`${size.widthPixels}×${size.heightPixels} of ${text}`);
    return ok({ bytes: made, nativeSize: NATIVE_SIZE, isFlat: text === "black", ...this.figures });
  }

  async thumbnail(panorama: Uint8Array): Promise<Result<Uint8Array, UnusableImage>> {
    return this.thumbnails ? ok(image(`thumbnail of ${readable(panorama)}`)) : err(unusable);
  }
}

/** Size of every picture before it is resized. */
export const NATIVE_SIZE: PixelSize = { widthPixels: 1440, heightPixels: 720 };

const PERSONAL = "#".charCodeAt(0);
const JPEG_SIGNATURE = [0xff, 0xd8, 0xff];

/** A file that passes for a JPEG: its signature, followed by the text. */
export const image = (text: string): Uint8Array =>
  Uint8Array.from([...JPEG_SIGNATURE, ...new TextEncoder().encode(text)]);

/** The text of such a file. */
export const readable = (bytes: Uint8Array): string => new TextDecoder().decode(bytes.subarray(JPEG_SIGNATURE.length));

const unusable: UnusableImage = { kind: "unusable_image", reason: "it is not an image" };
