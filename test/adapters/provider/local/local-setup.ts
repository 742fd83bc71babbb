import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { HandClock } from "../../../../adapters/memory/hand-clock.js";
import { MemoryObjectStorage } from "../../../../adapters/memory/memory-object-storage.js";
import { LocalProvider } from "../../../../adapters/provider/local/local-provider.js";
import type { PaintPool } from "../../../../adapters/provider/local/paint-pool.js";
import { ReferenceImages } from "../../../../adapters/provider/local/reference-images.js";
import { PublicFetch } from "../../../../adapters/provider/public-fetch.js";

type Parts = {
  readonly folder: string;
  readonly pool: PaintPool;
  readonly clock?: HandClock;
  readonly storage?: MemoryObjectStorage;
  readonly publicFetch?: PublicFetch;
  readonly delayMilliseconds?: number;
};

/** A LocalProvider in this folder. Without another clock, its time stands still. */
export const aLocalProvider = ({
  clock = new HandClock(),
  storage = new MemoryObjectStorage(),
  publicFetch = new PublicFetch(),
  delayMilliseconds = 0,
  ...others
}: Parts): LocalProvider => {
  const references = new ReferenceImages(storage, publicFetch);
  return new LocalProvider({ clock, references, publicUrl: "https://p.example", delayMilliseconds, ...others });
};

/** The names of the jobs and results of a LocalProvider in this folder. */
export const filesIn = (folder: string): Promise<string[][]> =>
  Promise.all(["jobs", "results"].map((part) => readdir(join(folder, part))));
