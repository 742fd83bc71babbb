import type { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import { referenceImageName } from "../../domain/images/object-name.js";
import { plain } from "./test-images.js";

/** The URL of a reference image in the storage: the n-th one, with these bytes. */
export const hostedPicture = async (storage: MemoryObjectStorage, bytes: Uint8Array, n = 1): Promise<string> => {
  const name = referenceImageName(`${n}`.repeat(22), "image/png");
  await storage.put(name, bytes, "image/png");
  return storage.urlOf(name);
};

/** The URLs of this many reference images in the storage, all different. */
export const hostedPictures = async (storage: MemoryObjectStorage, count: number): Promise<string[]> => {
  const urls: string[] = [];
  for (let n = 1; n <= count; n += 1) {
    const picture = plain({ widthPixels: 30 + n, heightPixels: 20 }).png();
    urls.push(await hostedPicture(storage, await picture.toBuffer(), n));
  }
  return urls;
};
