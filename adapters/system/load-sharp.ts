import { availableParallelism } from "node:os";
import { Semaphore } from "./semaphore.js";

/**
 * Decoding the largest image takes 100 MB of memory, and threads of the pool that password hashes also use. One
 * processor stays free for requests.
 */
export const DECODINGS_MAX = Math.min(2, Math.max(1, availableParallelism() - 1));

/** One for the whole process: results of providers and reference images share the same memory and threads. */
const semaphore = new Semaphore(DECODINGS_MAX);

export type ImageLibrary = typeof import("sharp").default;

/** Runs work that decodes or encodes an image, when fewer than `DECODINGS_MAX` run. `work` must not call it again. */
export const decoding = <T>(work: (sharp: ImageLibrary) => Promise<T>): Promise<T> =>
  semaphore.run(async () => work(await loadSharp()));

/**
 * Loads the image library at the first image: it takes 30 MiB of memory, and a process without images never needs it.
 * The images are untrusted. libvips can also read SVG, PDF, TIFF and more, so only three loaders are enabled.
 * Reading a header needs only this; everything that reads pixels goes through `decoding`.
 */
export const loadSharp = (): Promise<ImageLibrary> => {
  loaded ??= load();
  return loaded;
};

let loaded: Promise<ImageLibrary> | undefined;

const load = async (): Promise<ImageLibrary> => {
  const { default: sharp } = await import("sharp");
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({
    operation: ["Jpeg", "Png", "Webp"].flatMap((type) => [`VipsForeignLoad${type}`, `VipsForeignLoad${type}Buffer`]),
  });
  sharp.cache(false);
  sharp.concurrency(1);
  return sharp;
};
