import type { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import { referenceImageName } from "../../domain/images/object-name.js";
import { plain } from "./test-images.js";

/** The URLs of this many reference images in the storage, all different. */
export const hostedPictures = async (storage: MemoryObjectStorage, count: number): Promise<string[]> => {
  const urls: string[] = [];
  for (let n = 1; n <= count; n += 1) {
    const name = referenceImageName(`${n}`.repeat(22), "image/png");
    const picture = await plain({ widthPixels: 30 + n, heightPixels: 20 })
      .png()
      .toBuffer();
    await storage.put(name, picture, "image/png");
    urls.push(storage.urlOf(name));
  }
  return urls;
};
