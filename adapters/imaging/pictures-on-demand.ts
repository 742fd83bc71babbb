import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { ObjectName } from "../../domain/images/object-name.js";
import { type StartView, startViewText } from "../../domain/images/picture.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import { decoding } from "../system/load-sharp.js";
import { brightestGrey } from "./brightest-grey.js";
import { KeptPictures } from "./kept-pictures.js";
import { perspectiveView } from "./perspective-view.js";
import { sourceTypeIn, sourceTypeXmp } from "./photo-sphere-xmp.js";
import type { SignPicture } from "./provenance/sign-picture.js";
import { WEBP_QUALITY } from "./webp-quality.js";

/** Bytes of the pictures in memory. A view has about 100 kB, a picture for a tile 10 to 100 kB. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;
const WHITE = 255;

/**
 * Makes pictures of stored panoramas on demand: perspective views as JPEG, and smaller copies as WebP.
 * The most recently requested pictures are kept in memory. Each function returns `undefined` if the image cannot be
 * read, or if too many pictures are being made. `sign` marks each picture.
 */
export const picturesOnDemand = (
  storage: Pick<ObjectStorage, "read">,
  sign: SignPicture,
  keptBytesMax = KEPT_BYTES_MAX,
) => {
  const kept = new KeptPictures(keptBytesMax);

  const picture = (key: string, name: ObjectName, make: (image: Uint8Array) => Promise<Uint8Array>) =>
    kept.getOrMake(key, async () => {
      const image = await storage.read(name);
      return image.isErr() ? undefined : make(image.value);
    });

  return {
    /** A view of a panorama for link previews. */
    socialImage: (name: ObjectName, size: PixelSize, view: StartView): Promise<Uint8Array | undefined> =>
      picture(`view ${size.widthPixels} ${startViewText(view)} ${name}`, name, (image) =>
        perspective(image, size, { view, for: "preview" }, sign),
      ),
    /** A view of a panorama, 4:3, `widthPixels` wide, for tiles. */
    tile: (name: ObjectName, widthPixels: number, view: StartView): Promise<Uint8Array | undefined> =>
      picture(`tile ${widthPixels} ${startViewText(view)} ${name}`, name, (image) => {
        const size = { widthPixels, heightPixels: Math.round((widthPixels * 3) / 4) };
        return perspective(image, size, { view, for: "tile" }, sign);
      }),
    /** A panorama or its thumbnail, `widthPixels` wide. */
    resized: (name: ObjectName, widthPixels: number): Promise<Uint8Array | undefined> =>
      picture(`${widthPixels} ${name}`, name, (image) => resized(image, widthPixels, sign)),
    /**
     * The brightest grey of a picture (brightest-grey.ts), kept as one byte; that of white if it cannot be decoded.
     * `undefined` until it is measured: nobody waits for the storage.
     */
    brightestGrey: (name: ObjectName): number | undefined => {
      const key = `grey ${name}`;
      const known = kept.get(key);
      picture(key, name, async (image) => Uint8Array.of(await brightestGrey(image).catch(() => WHITE))).catch(() => {});
      return known?.[0];
    },
  };
};

const perspective = async (
  image: Uint8Array,
  size: PixelSize,
  what: { readonly view: StartView; readonly for: "preview" | "tile" },
  sign: SignPicture,
): Promise<Uint8Array> => {
  const sourceType = sourceTypeIn(image);
  const made = await perspectiveView(image, size, { ...what, xmp: sourceTypeXmp(sourceType) });
  // With the manifest of a panorama, a tile would be larger than its picture.
  return sign(made, { sourceType, ...(what.for === "preview" && { madeFrom: image }) });
};

const resized = async (image: Uint8Array, width: number, sign: SignPicture): Promise<Uint8Array> => {
  const sourceType = sourceTypeIn(image);
  const made = await decoding((sharp) =>
    sharp(image, { failOn: "error" })
      .resize({ width, height: Math.round(width / 2), fit: "fill" })
      .withXmp(sourceTypeXmp(sourceType))
      .webp({ quality: WEBP_QUALITY })
      .toBuffer(),
  );
  return sign(made, { sourceType });
};
