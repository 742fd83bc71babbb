import { err, ok, type Result } from "neverthrow";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import { IMAGE_PIXELS_MAX } from "../../../domain/images/image-type.js";
import { isReference } from "../../../domain/images/object-name.js";
import type { PixelSize } from "../../../domain/images/resolution.js";
import { UPLOAD_LIMITS } from "../../../domain/images/upload-rules.js";
import { decodingError } from "../../system/image-header.js";
import { decoding } from "../../system/load-sharp.js";
import { sourceTypeIn } from "../../system/source-type-xmp.js";
import { isPanorama } from "../photo-views.js";
import type { PublicFetch } from "../public-fetch.js";
import { aboutImage, imageProblemIn, NOT_HOSTED, soundReference } from "../sound-reference.js";
import type { Reference } from "./painter/references.js";

/** `reason` is for the log. */
export type UnusableReference = {
  readonly cause: "reference_unreachable" | "reference_unusable";
  readonly reason: string;
  readonly imageProblem: string | undefined;
};

type Loaded = Result<Reference, UnusableReference>;

const FETCH_TIMEOUT_MILLISECONDS = 20_000;

/** Maximum memory of the bytes of an image before it is decoded. */
export const REFERENCE_BYTES_MAX = UPLOAD_LIMITS.fileBytesMax;

/** `isDrawn`: a panorama of this service that rules alone have drawn. The origin of all other images is unknown. */
export type LoadedReference = Reference & { readonly isDrawn: boolean };

/** Reads and decodes reference images: hosted ones through the storage port, all others over the network. */
export class ReferenceImages {
  private readonly storage: ObjectStorage;
  private readonly publicFetch: PublicFetch;

  constructor(storage: ObjectStorage, publicFetch: PublicFetch) {
    this.storage = storage;
    this.publicFetch = publicFetch;
  }

  /**
   * Scales the image down to fit into a square of `sidePixels`, a panorama to `panoramaSize`, if given. Fails soon
   * after it was `stopped`.
   */
  async load(url: string, sidePixels: number, stopped: AbortSignal, panoramaSize?: PixelSize) {
    const bytes = await this.read(url, stopped);
    if (bytes.isErr()) return err(bytes.error);
    const name = this.storage.nameOf(url);
    const isDrawn = name !== undefined && !isReference(name) && sourceTypeIn(bytes.value) === "algorithmicMedia";
    return (await decode(bytes.value, sidePixels, panoramaSize)).map((reference) => ({ ...reference, isDrawn }));
  }

  private async read(url: string, stopped: AbortSignal): Promise<Result<Uint8Array, UnusableReference>> {
    const name = this.storage.nameOf(url);
    if (name !== undefined) {
      const stored = await this.storage.read(name);
      return stored.mapErr((error) =>
        error.kind === "not_found"
          ? unreachable("a hosted reference image is not found", NOT_HOSTED)
          : unreachable(error.reason),
      );
    }
    const limits = { bytesMax: REFERENCE_BYTES_MAX, timeoutMilliseconds: FETCH_TIMEOUT_MILLISECONDS, stopped };
    const fetched = await this.publicFetch.get(url, limits);
    return fetched
      .map(({ bytes }) => bytes)
      .mapErr(({ kind, reason, problem }) =>
        (kind === "too_large" ? unusable : unreachable)(aboutImage(reason), problem),
      );
  }
}

const decode = async (bytes: Uint8Array, sidePixels: number, panoramaSize?: PixelSize): Promise<Loaded> => {
  const sound = await soundReference(bytes);
  if (sound.isErr()) return err(unusable(sound.error));
  const fills = panoramaSize !== undefined && isPanorama(sound.value.size);
  const [width, height] = fills ? [panoramaSize.widthPixels, panoramaSize.heightPixels] : [sidePixels, sidePixels];
  try {
    const { data, info } = await decoding((sharp) =>
      sharp(sound.value.bytes, { limitInputPixels: IMAGE_PIXELS_MAX })
        .rotate()
        .resize(width, height, fills ? { fit: "fill" } : { fit: "inside", withoutEnlargement: true })
        .flatten({ background: "#808080" })
        .toColourspace("srgb")
        .raw()
        .toBuffer({ resolveWithObject: true }),
    );
    const pixels = new Uint8Array(new SharedArrayBuffer(data.length));
    pixels.set(data);
    return ok({ widthPixels: info.width, heightPixels: info.height, pixels });
  } catch (error) {
    return err(unusable(`a reference image: ${decodingError(error)}`));
  }
};

const unusable = (reason: string, imageProblem = imageProblemIn(reason)): UnusableReference => ({
  cause: "reference_unusable",
  reason,
  imageProblem,
});
const unreachable = (reason: string, imageProblem?: string): UnusableReference => ({
  cause: "reference_unreachable",
  reason,
  imageProblem,
});
