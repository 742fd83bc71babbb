import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { ObjectName } from "../../domain/images/object-name.js";
import { type StartView, startViewText } from "../../domain/images/picture.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import { decoding } from "../system/load-sharp.js";
import { Semaphore } from "../system/semaphore.js";
import { sourceTypeIn, sourceTypeXmp } from "../system/source-type-xmp.js";
import { perspectiveView, WEBP_QUALITY } from "./perspective-view.js";
import type { SignPicture } from "./provenance/sign-picture.js";

/** Bytes of the pictures in memory. A view has about 100 kB, a picture for a tile 10 to 100 kB. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024;
const WHITE = 255;

/**
 * Makes pictures of stored panoramas on demand: perspective views as JPEG, and smaller copies as WebP.
 * The most recently requested pictures are kept in memory. Each function returns `undefined` if the image cannot be
 * read, or if too many pictures are being made. `network`: of the visitor; networks take turns. `sign` marks each
 * picture.
 */
export const picturesOnDemand = (
  storage: Pick<ObjectStorage, "read">,
  sign: SignPicture,
  keptBytesMax = KEPT_BYTES_MAX,
) => {
  const kept = new KeptPictures(keptBytesMax);

  const picture = (key: string, name: ObjectName, network: string, make: (image: Uint8Array) => Promise<Uint8Array>) =>
    kept.getOrMake(key, network, async () => {
      const image = await storage.read(name);
      return image.isErr() ? undefined : make(image.value);
    });

  return {
    /** A view of a panorama for link previews. */
    socialImage: (name: ObjectName, size: PixelSize, view: StartView, network: string) =>
      picture(`view ${size.widthPixels} ${startViewText(view)} ${name}`, name, network, (image) =>
        perspective(image, size, { view, for: "preview" }, sign),
      ),
    /** A view of a panorama, 4:3, `widthPixels` wide, for tiles. */
    tile: (name: ObjectName, widthPixels: number, view: StartView, network: string) =>
      picture(`tile ${widthPixels} ${startViewText(view)} ${name}`, name, network, (image) => {
        const size = { widthPixels, heightPixels: Math.round((widthPixels * 3) / 4) };
        return perspective(image, size, { view, for: "tile" }, sign);
      }),
    /** A panorama or its thumbnail, `widthPixels` wide. */
    resized: (name: ObjectName, widthPixels: number, network: string) =>
      picture(`${widthPixels} ${name}`, name, network, (image) => resized(image, widthPixels, sign)),
    /**
     * The brightest grey of a picture (`brightestGrey`), kept as one byte; white if it cannot be decoded.
     * `undefined` until it is measured: a page does not wait for the storage.
     */
    brightestGrey: (name: ObjectName): number | undefined => {
      const key = `grey ${name}`;
      const known = kept.get(key);
      picture(key, name, "", async (image) => Uint8Array.of(await brightestGrey(image).catch(() => WHITE))).catch(
        () => {},
      );
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
  const made = await perspectiveView(image, size, { ...what, sourceType });
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

/** Blocks of about 1.4°, the size of a small letter on the landing page: text can be on one bright spot. */
const BLOCKS = { width: 256, height: 128 };

const linear = (level: number): number => (level <= 10 ? level / 255 / 12.92 : ((level / 255 + 0.055) / 1.055) ** 2.4);

/**
 * The grey, from 0 to 255, that is as bright as the brightest block of a picture, by the relative luminance of WCAG.
 * Throws if the picture cannot be decoded.
 */
const brightestGrey = async (image: Uint8Array): Promise<number> => {
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

type Make = () => Promise<Uint8Array | undefined>;

/** Pictures that are being made. Each holds an encoded panorama. */
const MADE_AT_ONCE = 2;
/** Pictures that are being made, or wait for that: of one network, and of all. */
const PENDING_OF_NETWORK_MAX = 100;
const PENDING_MAX = 1_000;

type Pending = {
  /** In whose queues the picture waits. */
  readonly networks: Set<string>;
  readonly made: Promise<Uint8Array | undefined>;
  readonly makeOnce: () => Promise<void>;
};

/**
 * The most recently requested pictures, in memory. Concurrent requests for one picture share its creation. It waits in
 * the queue of each network that asks for it, so that nobody waits for the other pictures of another network.
 */
class KeptPictures {
  private readonly bytesMax: number;
  /** Pictures, the most recently used last. */
  private readonly kept = new Map<string, Uint8Array>();
  private readonly pending = new Map<string, Pending>();
  private readonly semaphore = new Semaphore(MADE_AT_ONCE);
  private bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** The picture, if it is kept. */
  get(key: string): Uint8Array | undefined {
    return this.kept.get(key);
  }

  /** The kept picture, or a new one; `undefined` if it cannot be made, or if too many are being made. */
  async getOrMake(key: string, network: string, make: Make): Promise<Uint8Array | undefined> {
    const known = this.kept.get(key);
    if (known !== undefined) {
      this.kept.delete(key);
      this.kept.set(key, known);
      return known;
    }
    const started = this.pending.get(key);
    if (started?.networks.has(network)) return started.made;
    const ofNetwork = [...this.pending.values()].filter(({ networks }) => networks.has(network));
    if (ofNetwork.length >= PENDING_OF_NETWORK_MAX || (!started && this.pending.size >= PENDING_MAX)) return undefined;
    const pending = started ?? this.begin(key, make);
    pending.networks.add(network);
    void this.semaphore.run(pending.makeOnce, network);
    return pending.made;
  }

  private begin(key: string, make: Make): Pending {
    let resolve: (made: ReturnType<Make>) => void = () => {};
    const made = new Promise<Uint8Array | undefined>((resolveMade) => {
      resolve = resolveMade;
    });
    let isStarted = false;
    const makeOnce = async () => {
      if (isStarted) return;
      isStarted = true;
      resolve(this.made(key, make));
      await made.catch(() => {}); // the error is for those who wait for the picture
    };
    const pending = { networks: new Set<string>(), made, makeOnce };
    this.pending.set(key, pending);
    return pending;
  }

  private async made(key: string, make: Make): Promise<Uint8Array | undefined> {
    try {
      const made = await make();
      if (made !== undefined) this.keep(key, made);
      return made;
    } finally {
      this.pending.delete(key);
    }
  }

  private keep(key: string, picture: Uint8Array): void {
    this.bytes += picture.length;
    this.kept.set(key, picture);
    for (const [oldest, { length }] of this.kept) {
      if (this.bytes <= this.bytesMax) break;
      this.kept.delete(oldest);
      this.bytes -= length;
    }
  }
}
