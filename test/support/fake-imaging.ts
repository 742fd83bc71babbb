import { err, ok, type Result } from "neverthrow";
import type { Imaging, UnusableImage } from "../../application/ports/imaging.js";
import { type ImageType, imageTypeOf } from "../../domain/image-type.js";
import type { PixelSize } from "../../domain/resolution.js";

/**
 * Takes everything with an image's signature for an image, and says in the bytes that it makes what was done:
 * `readable(bytes)` is then "1024×512 of https://…", or "thumbnail of 1024×512 of …".
 */
export class FakeImaging implements Imaging {
  /** While false, no thumbnail can be made. */
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

/** The smallest bytes that pass for a JPEG here, and say something. */
export const image = (text: string): Uint8Array => Buffer.concat([JPEG_SIGNATURE, Buffer.from(text)]);

/** What the bytes of a fake image say. */
export const readable = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(JPEG_SIGNATURE.length)).toString();

const unusable: UnusableImage = { kind: "unusable_image", reason: "is no image." };
