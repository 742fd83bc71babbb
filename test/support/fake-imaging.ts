import { err, ok, type Result } from "neverthrow";
import type { EncodedPanorama, Imaging, UnusableImage } from "../../application/ports/imaging.js";
import { type ImageType, imageTypeOf } from "../../domain/image-type.js";
import type { PixelSize } from "../../domain/resolution.js";

/**
 * Accepts all bytes that start with an image's signature. The bytes that it returns describe what it did: `readable`
 * gives "1024×512 of https://…" or "thumbnail of 1024×512 of …".
 */
export class FakeImaging implements Imaging {
  /** While false, `thumbnail` fails. */
  thumbnails = true;
  /** The seam of every picture. */
  seam = 0;
  /** Pictures that were decoded. */
  decoded = 0;

  async inspect(bytes: Uint8Array, type: ImageType): Promise<Result<PixelSize, UnusableImage>> {
    return imageTypeOf(bytes) === type ? ok({ widthPixels: 1024, heightPixels: 512 }) : err(unusable);
  }

  /** A picture of `black` is flat. */
  async panorama(bytes: Uint8Array, size: PixelSize): Promise<Result<EncodedPanorama, UnusableImage>> {
    this.decoded += 1;
    if (imageTypeOf(bytes) === undefined) return err(unusable);
    const text = readable(bytes);
    const made = image(`${size.widthPixels}×${size.heightPixels} of ${text}`);
    return ok({ bytes: made, nativeSize: NATIVE_SIZE, isFlat: text === "black", seam: this.seam, poles: 0 });
  }

  async thumbnail(panorama: Uint8Array): Promise<Result<Uint8Array, UnusableImage>> {
    return this.thumbnails ? ok(image(`thumbnail of ${readable(panorama)}`)) : err(unusable);
  }
}

/** Of every fake picture. */
export const NATIVE_SIZE: PixelSize = { widthPixels: 1440, heightPixels: 720 };

const JPEG_SIGNATURE = Buffer.from([0xff, 0xd8, 0xff]);

/** A fake JPEG: the signature followed by the text. */
export const image = (text: string): Uint8Array => Buffer.concat([JPEG_SIGNATURE, Buffer.from(text)]);

/** The text of a fake image. */
export const readable = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(JPEG_SIGNATURE.length)).toString();

const unusable: UnusableImage = { kind: "unusable_image", reason: "it is not an image" };
