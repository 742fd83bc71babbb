import type { Clock } from "../../../application/ports/clock.js";
import type { GenerationProvider } from "../../../application/ports/generation-provider.js";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import type { DigitalSourceType } from "../../../domain/images/source-type.js";
import { SystemClock } from "../../system/system-clock.js";
import { PublicFetch } from "../public-fetch.js";
import { LocalProvider } from "./local-provider.js";
import { PaintPool } from "./paint-pool.js";
import { ReferenceImages } from "./reference-images.js";

/** Options of the local provider. */
export type LocalProviderOptions = {
  /** For its jobs and temporary images. Is created if it is missing; processes may share it. */
  readonly folder: string;
  /** Origin at which the application serves `temporaryImage` as `/generations/{name}`, without a trailing slash. */
  readonly publicUrl: string;
  /** Storage of the application's reference images. */
  readonly storage: ObjectStorage;
  /** The shortest time of a generation, to resemble a real provider. By default 0. */
  readonly delayMilliseconds?: number | undefined;
  /** Marks a JPEG before it is behind a temporary URL. By default it has the mark in XMP only. */
  readonly sign?: ((jpeg: Uint8Array, sourceType: DigitalSourceType) => Promise<Uint8Array>) | undefined;
  /** User agent of fetches of reference images. By default `panorama-service`. */
  readonly userAgent?: string | undefined;
  /** Default: the clock of the operating system. */
  readonly clock?: Clock | undefined;
};

/** The local provider, with its temporary images and worker threads. */
export interface OpenLocalProvider extends GenerationProvider {
  /** The bytes behind `/generations/{name}`; `undefined` for an unknown or expired image. */
  temporaryImage(name: string): Promise<Uint8Array | undefined>;
  /** Removes jobs and temporary images that are older than 24 hours. Call it regularly. */
  clean(): Promise<void>;
  /** Ends its worker threads and connections. Unpainted pictures are painted after the next start. */
  close(): Promise<void>;
}

/**
 * Opens the embedded provider, which paints a landscape from the words of the prompt on this machine, for tests and
 * demonstrations. It is a stand-in for a generation model, not a model.
 */
export const localProvider = ({
  folder,
  publicUrl,
  storage,
  delayMilliseconds = 0,
  sign,
  userAgent,
  clock = new SystemClock(),
}: LocalProviderOptions): OpenLocalProvider => {
  const publicFetch = new PublicFetch([], userAgent); // it fetches URLs that customers send, so it has no exempt origins
  const pool = new PaintPool();
  const references = new ReferenceImages(storage, publicFetch);
  return Object.assign(new LocalProvider({ clock, references, pool, folder, publicUrl, delayMilliseconds, sign }), {
    close: async () => {
      await Promise.all([pool.close(), publicFetch.close()]);
    },
  });
};
