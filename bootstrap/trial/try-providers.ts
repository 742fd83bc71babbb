import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GenerationProvider } from "../../application/ports/generation-provider.js";
import type { EncodedPanorama, Imaging } from "../../application/ports/imaging.js";
import { figuresOf, flawOf, type ResultBounds, type ResultFigures } from "../../domain/images/picture.js";
import type { PixelSize } from "../../domain/images/resolution.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import type { GenerationCost } from "../../domain/tasks/generation-cost.js";
import { type MadePicture, makePicture, type NoPicture, type PicturePorts } from "./make-picture.js";

/** A provider under the name that the sheet gives it. */
export type TriedProvider = { readonly name: string; readonly provider: GenerationProvider };

/** One row of the sheet. `number` counts from 1 on; all providers get the same requests. */
export type TriedPicture = {
  readonly provider: string;
  readonly number: number;
  readonly request: CreationRequest;
} & ((NoPicture & { readonly seconds?: undefined }) | KeptPicture);

/** `unusable`: the service would refund it, for `reason`. */
export type KeptPicture = {
  readonly status: "made" | "unusable";
  readonly reason?: string;
  readonly seconds: number;
  readonly cost?: GenerationCost | undefined;
  readonly nativeSize: PixelSize;
  readonly figures: ResultFigures;
  readonly files: PictureFiles;
};

/** Paths below the folder of the sheet. `sphere`: the picture in a script. */
export type PictureFiles = { readonly picture: string; readonly thumbnail: string; readonly sphere: string };

type Ports = PicturePorts & {
  readonly imaging: Pick<Imaging, "panorama" | "thumbnail">;
  readonly resultBounds: ResultBounds;
  /** The folder of the sheet, with its subfolders `thumbnails` and `spheres`. */
  readonly folder: string;
  /** Called with each row when it is there. */
  readonly onPicture: (picture: TriedPicture) => void;
};

/** Of a provider that has no limit. */
const CONCURRENCY_DEFAULT = 4;

/**
 * Makes a picture of every request at every provider, as many at once as each provider takes. A failure is a row, and
 * does not stop the others. Resolves to the rows in the order of the requests.
 */
export const tryProviders = async (
  ports: Ports,
  providers: readonly TriedProvider[],
  requests: readonly CreationRequest[],
): Promise<readonly TriedPicture[]> => {
  const pictures: TriedPicture[] = [];
  const workers = providers.flatMap((tried) => {
    const numbered = requests.map((request, index) => ({ request, number: index + 1 })).values();
    const work = async () => {
      for (const { request, number } of numbered) {
        const picture = await tryOnce(ports, tried, request, number);
        pictures.push(picture);
        ports.onPicture(picture);
      }
    };
    return Array.from({ length: concurrencyOf(tried.provider) }, work);
  });
  await Promise.all(workers);
  const orderOf = ({ number, provider }: TriedPicture) =>
    number * providers.length + providers.findIndex(({ name }) => name === provider);
  return pictures.sort((a, b) => orderOf(a) - orderOf(b));
};

export const concurrencyOf = (provider: GenerationProvider): number =>
  provider.places().reduce((sum, { concurrencyMax }) => sum + (concurrencyMax ?? CONCURRENCY_DEFAULT), 0);

const tryOnce = async (
  ports: Ports,
  { name, provider }: TriedProvider,
  request: CreationRequest,
  number: number,
): Promise<TriedPicture> => {
  const row = { provider: name, number, request };
  try {
    const made = await makePicture(ports, provider, request);
    return made.isErr()
      ? { ...row, ...made.error }
      : { ...row, ...(await keep(ports, baseOf(name, number), made.value)) };
  } catch (error) {
    // A full disk, or a bug: what the other pictures have cost must not be lost with this one.
    return { ...row, status: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
};

/** The beginning of the file names: `fal:seedream-4.5` becomes `fal-seedream-4.5-01`. */
const baseOf = (provider: string, number: number): string =>
  `${provider.replace(/[^A-Za-z0-9.]+/g, "-")}-${String(number).padStart(2, "0")}`;

const keep = async (
  { imaging, folder, resultBounds }: Ports,
  base: string,
  { panorama, seconds, cost }: MadePicture,
): Promise<KeptPicture> => {
  const { bytes, nativeSize } = panorama;
  const files = { picture: `${base}.jpg`, thumbnail: `thumbnails/${base}.webp`, sphere: `spheres/${base}.js` };
  await writeFile(join(folder, files.picture), bytes);
  await writeFile(join(folder, files.sphere), sphereScript(bytes));
  const thumbnail = await imaging.thumbnail(bytes);
  if (thumbnail.isErr()) throw new Error(`the thumbnail cannot be made: ${thumbnail.error.reason}`);
  await writeFile(join(folder, files.thumbnail), thumbnail.value);
  return { ...statusOf(panorama, resultBounds), seconds, cost, nativeSize, figures: figuresOf(panorama), files };
};

const statusOf = (panorama: EncodedPanorama, bounds: ResultBounds): Pick<KeptPicture, "status" | "reason"> => {
  const flaw = flawOf(panorama, bounds);
  return flaw === undefined ? { status: "made" } : { status: "unusable", reason: flaw };
};

/**
 * The picture as a script, which the sheet loads when the picture is opened: a page from a file may run the scripts
 * beside it, but its WebGL may not read the pictures there.
 */
const sphereScript = (bytes: Uint8Array): string =>
  `showSphere("data:image/jpeg;base64,${Buffer.from(bytes).toString("base64")}");\n`;
