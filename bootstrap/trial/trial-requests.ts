import { readFile } from "node:fs/promises";
import { err, ok, Result } from "neverthrow";
import { rulePredicate } from "../../adapters/wording/rule-predicate.js";
import type { Ids } from "../../application/ports/ids.js";
import type { Imaging } from "../../application/ports/imaging.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import { referenceImageName } from "../../domain/images/object-name.js";
import { admitSizes, admitType, type UploadLimits } from "../../domain/images/upload-rules.js";
import { type CreationRequest, IMAGE_URLS_MAX, parseCreationRequest } from "../../domain/tasks/creation-request.js";
import { SEED_MAX } from "../../domain/tasks/seed.js";
import { type CommandError, misused } from "../command-error.js";

/** A prompt, and where it stands, for messages. */
type Prompt = { readonly text: string; readonly at: string };

/** Light and dark, inside and outside, straight lines and soft shapes, an open horizon and none. */
const BUNDLED_PROMPTS = [
  "A quiet mountain lake at sunrise, pine forest on the shore, mist over the water, snow on the peaks",
  "The main hall of an old library, wooden galleries on two floors, green reading lamps, tall arched windows",
  "A city square at night after rain, neon signs, wet cobblestones, people under umbrellas",
  "A white sand beach at noon, palm trees, clear turquoise water, a few small clouds in a deep blue sky",
  "A bright modern living room, grey sofa, wooden floor, large windows with a view of a garden",
];

/** The prompts of a file, one in each line. Blank lines, and lines that begin with #, do not count. */
export const promptsIn = async (file: string | undefined): Promise<Result<readonly Prompt[], CommandError>> => {
  if (file === undefined) return ok(BUNDLED_PROMPTS.map((text, index) => ({ text, at: `prompt ${index + 1}` })));
  const content = await readFile(file, "utf8").catch(() => undefined);
  if (content === undefined) return err(misused(`--prompts ${file}: the file cannot be read.`));
  const prompts = content
    .split(/\r?\n/)
    .map((line, index) => ({ text: line.trim(), at: `--prompts ${file}, line ${index + 1}` }))
    .filter(({ text }) => text !== "" && !text.startsWith("#"));
  return prompts.length > 0
    ? ok(prompts)
    : err(misused(`--prompts ${file}: there is no prompt in it. Write one into each line.`));
};

type ReferencePorts = {
  readonly imaging: Pick<Imaging, "inspect">;
  readonly storage: Pick<ObjectStorage, "put" | "urlOf">;
  readonly ids: Pick<Ids, "unguessable">;
};

/** Checks reference images as an upload does, and stores them. Resolves to their URLs. */
export const storeReferences = async (
  { imaging, storage, ids }: ReferencePorts,
  files: readonly string[],
  limits: UploadLimits,
): Promise<Result<readonly string[], CommandError>> => {
  if (files.length > IMAGE_URLS_MAX) {
    return err(misused(`--images takes at most ${IMAGE_URLS_MAX} pictures, and got ${files.length}.`));
  }
  const urls: string[] = [];
  for (const file of files) {
    const refuse = (predicate: string) => err(misused(`--images ${file}: the file ${predicate}`));
    const bytes = await readFile(file).catch(() => undefined);
    if (bytes === undefined) return refuse("cannot be read.");
    const type = admitSizes([bytes.length], limits).andThen(() => admitType(0, bytes, undefined));
    if (type.isErr()) return refuse(rulePredicate(type.error.rule));
    const inspected = await imaging.inspect(bytes, type.value);
    if (inspected.isErr()) return refuse(rulePredicate({ name: "usable_image", reason: inspected.error.reason }));
    const name = referenceImageName(ids.unguessable(), type.value);
    const stored = await storage.put(name, bytes, type.value);
    if (stored.isErr()) return refuse(`cannot be kept: ${stored.error.reason}.`);
    urls.push(storage.urlOf(name));
  }
  return ok(urls);
};

export type Trial = {
  readonly prompts: readonly Prompt[];
  readonly imageUrls: readonly string[];
  readonly resolution: string;
  /** Of all requests. Absent: one for each prompt. */
  readonly count: number | undefined;
  readonly seed: number;
};

/** The prompts in order, again and again; each time with the next seed. */
export const requestsOf = (trial: Trial): Result<readonly CreationRequest[], CommandError> => {
  const { prompts, imageUrls, resolution, seed, count = prompts.length } = trial;
  const requests = Array.from({ length: count }, (_, index) => {
    const prompt = prompts[index % prompts.length] as Prompt;
    return parseCreationRequest({
      prompt: prompt.text,
      image_urls: imageUrls,
      resolution,
      seed: (seed + Math.floor(index / prompts.length)) % (SEED_MAX + 1),
    }).mapErr(({ field, rule }) =>
      misused(`${field === "prompt" ? `${prompt.at}: the prompt` : `--${field}`} ${rulePredicate(rule)}`),
    );
  });
  return Result.combine(requests);
};
