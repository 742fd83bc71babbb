import { err, ok, type Result } from "neverthrow";
import type { Imaging, UnusableImage } from "../../application/ports/imaging.js";
import { type ImageType, imageTypeOf } from "../../domain/image-type.js";
import type { PixelSize } from "../../domain/resolution.js";

/**
 * Accepts all bytes that start with an image's signature. The bytes that it returns describe what it did: `readable`
 * gives "1024×512 of https://…" or "thumbnail of 1024×512 of …".
 */
export class FakeImaging implements Imaging {
  /** While false, `thumbnail` fails. */
  thumbnails = true;

  async inspect(bytes: Uint8Array, type: ImageType): Promise<Result<PixelSize, UnusableImage>> {
    return imageTypeOf(bytes) === type ? ok({ widthPixels: 1024, heightPixels: 512 }) : err(unusable);
  }

  async panorama(bytes: Uint8Array, size: PixelSize): Promise<Result<Uint8Array, UnusableImage>> {
    if (imageTypeOf(bytes) === undefined) return err(unusable);
    return ok(image(`${size.widthPixels}×${size.heightPixels} of ${readable(bytes)}`));
  }

  async thumbnail(panorama: Uint8Array): Promise<Result<Uint8Array, UnusableImage>> {
    return this.thumbnails ? ok(image(`thumbnail of ${readable(panorama)}`)) : err(unusable);
  }
}

const JPEG_SIGNATURE = Buffer.from([0xff, 0xd8, 0xff]);

/** A fake JPEG: the signature followed by the text. */
export const image = (text: string): Uint8Array => Buffer.concat([JPEG_SIGNATURE, Buffer.from(text)]);

/** The text of a fake image. */
export const readable = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(JPEG_SIGNATURE.length)).toString();

const unusable: UnusableImage = { kind: "unusable_image", reason: "it is not an image" };
