import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { err, ok, type Result } from "neverthrow";
import { sharpImaging } from "../../adapters/imaging/sharp-imaging.js";
import { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import { RandomIds } from "../../adapters/system/random-ids.js";
import { SystemClock } from "../../adapters/system/system-clock.js";
import { BUNDLED_FILES_FOLDER } from "../../adapters/web/static-files.js";
import type { CreationRequest } from "../../domain/tasks/creation-request.js";
import { type CommandError, misused } from "../command-error.js";
import type { Config } from "../config.js";
import { contactSheet, type SheetParts } from "./contact-sheet.js";
import { openProviders } from "./open-providers.js";
import { jsonOf, listPriceOf, type Results, totalsOf } from "./results.js";
import { promptsIn, requestsOf, storeReferences } from "./trial-requests.js";
import { concurrencyOf, type TriedPicture, type TriedProvider, tryProviders } from "./try-providers.js";

/** What the command prints. */
type Told = { readonly json: object; readonly lines: readonly string[] };

/** The options of `panorama provider try`. */
export type TrialOptions = {
  /** A folder that is empty or not there. */
  readonly out: string;
  /** Absent for the bundled prompts. */
  readonly promptsFile: string | undefined;
  /** Files. */
  readonly images: readonly string[];
  /** Of each provider. Absent: one for each prompt. */
  readonly count: number | undefined;
  readonly resolution: string;
  readonly seed: number;
  /** Ends the trial, with a page of what is there. */
  readonly signal: AbortSignal;
  /** Shows a line of progress. */
  readonly print: (line: string) => void;
};

/**
 * `panorama provider try`: makes pictures at the configured providers, and writes the page that compares them.
 * `clientFolder`: with the built style and script of the page.
 */
export const runTrial = async (
  config: Config,
  options: TrialOptions,
  clientFolder = BUNDLED_FILES_FOLDER,
): Promise<Result<Told, CommandError>> => {
  const storage = new MemoryObjectStorage();
  const requests = await requestsFrom(config, storage, options);
  if (requests.isErr()) return err(requests.error);
  const folder = await emptyFolder(options.out);
  if (folder.isErr()) return err(folder.error);
  const opened = await openProviders({ config, storage, warn: options.print });
  try {
    const { providers } = opened;
    return await tryAndWrite({ ...options, config, providers, folder: folder.value, clientFolder }, requests.value);
  } finally {
    await opened.close();
  }
};

const requestsFrom = async (
  { policy }: Config,
  storage: MemoryObjectStorage,
  { promptsFile, images, ...trial }: TrialOptions,
): Promise<Result<readonly CreationRequest[], CommandError>> => {
  const prompts = await promptsIn(promptsFile);
  if (prompts.isErr()) return err(prompts.error);
  const ports = { imaging: sharpImaging(), storage, ids: new RandomIds() };
  const imageUrls = await storeReferences(ports, images, policy.uploads);
  return imageUrls.andThen((urls) => requestsOf({ ...trial, prompts: prompts.value, imageUrls: urls }));
};

/** Makes the folder. Never writes between other files: they may be an earlier trial that was paid for. */
const emptyFolder = async (out: string): Promise<Result<string, CommandError>> => {
  const folder = resolve(out);
  try {
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length > 0) return err(misused(`--out ${out}: the folder is not empty.`));
    return ok(folder);
  } catch (error) {
    return err(
      misused(`--out ${out}: the folder cannot be written: ${error instanceof Error ? error.message : error}`),
    );
  }
};

type Trial = TrialOptions & {
  readonly config: Config;
  readonly providers: readonly TriedProvider[];
  readonly folder: string;
  readonly clientFolder: string;
};

const tryAndWrite = async (
  { config, providers, folder, clientFolder, images, signal, print }: Trial,
  requests: readonly CreationRequest[],
): Promise<Result<Told, CommandError>> => {
  const clock = new SystemClock();
  for (const name of ["thumbnails", "spheres"]) await mkdir(join(folder, name));
  const resolution = requests[0]?.resolution ?? "2k";
  for (const { name, provider } of providers) {
    const price = listPriceOf(config.providerPrices, name, resolution);
    const cost = price === undefined ? "at a price that is not known here" : `$${price} each`;
    const count = requests.length === 1 ? "1 picture" : `${requests.length} pictures`;
    print(`${name}: ${count}, ${cost}, at most ${concurrencyOf(provider)} at once`);
  }
  signal.addEventListener("abort", () =>
    print("Interrupted: stops what the providers can still stop, and writes the page."),
  );
  const total = providers.length * requests.length;
  let done = 0;
  const onPicture = (picture: TriedPicture) => {
    done += 1;
    print(`${done}/${total}  ${lineOf(picture)}`);
  };
  const { generationDeadlineMilliseconds: deadlineMilliseconds, resultBounds, providerPrices } = config;
  const ports = { clock, ids: new RandomIds(), imaging: sharpImaging(), deadlineMilliseconds, signal, providerPrices };
  const startedAt = clock.now();
  const pictures = await tryProviders({ ...ports, resultBounds, folder, onPicture }, providers, requests);

  const results: Results = {
    startedAt,
    endedAt: clock.now(),
    isInterrupted: signal.aborted,
    resolution,
    references: images.map((file) => basename(file)),
    providers: providers.map(({ name }) => name),
    pictures,
    prices: providerPrices,
  };
  const sheet = join(folder, "index.html");
  const json = jsonOf(results);
  await writeFile(join(folder, "results.json"), `${JSON.stringify(json, null, 2)}\n`);
  await writeFile(sheet, contactSheet(results, await sheetParts(clientFolder)));

  const kept = pictures.filter(({ seconds }) => seconds !== undefined).length;
  if (signal.aborted) {
    return err({ kind: "interrupted", message: `Interrupted with ${kept} of ${total} pictures. The page: ${sheet}` });
  }
  return ok({
    json: { ...json, page: sheet },
    lines: [...totalsOf(results).map(summaryOf), `The page: ${sheet}`],
    ...(kept === 0 && { failed: "failed" as const }),
  });
};

const lineOf = (picture: TriedPicture): string => {
  const name = `${picture.provider} ${picture.number}`;
  if (picture.seconds === undefined) return `${name}: ${picture.status}: ${picture.reason}`;
  const { seconds, figures, reason } = picture;
  const { zenith, nadir } = figures.poleDeviation;
  const facts = `${seconds.toFixed(1)} s, seam ${figures.seam}, poles ${zenith} and ${nadir}`;
  return `${name}: ${facts}${reason === undefined ? "" : `; unusable: ${reason}`}`;
};

const summaryOf = ({
  provider,
  made,
  unusable,
  failed,
  medianSeconds,
  medianSeam,
  totalDollars,
}: ReturnType<typeof totalsOf>[number]): string =>
  [
    `${provider}: ${made} made, ${failed + unusable} failed`,
    ...(medianSeconds === undefined ? [] : [`${medianSeconds.toFixed(1)} s`, `seam ${medianSeam}`]),
    totalDollars === undefined ? "cost unknown" : `$${totalDollars}`,
  ].join(", ");

/** The built style and script of the page. */
const sheetParts = async (folder: string): Promise<SheetParts> => {
  const files = await readdir(folder);
  const read = async (name: string) => {
    const file = files.find((file) => file.endsWith(`-${name}`));
    if (file === undefined) throw new Error(`the file ${name} is not built: run npm run build`);
    return readFile(join(folder, file), "utf8");
  };
  return { style: await read("contact-sheet.css"), script: await read("contact-sheet.js") };
};
