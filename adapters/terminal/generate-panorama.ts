import { constants } from "node:fs";
import { access, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { err, ok, type Result } from "neverthrow";
import { parseTaskId } from "../../domain/ids.js";
import { FILE_EXTENSIONS } from "../../domain/images/image-type.js";
import { type InvalidRequest, WHOLE_BODY } from "../../domain/invalid-request.js";
import { type Creation, parseCreation } from "../../domain/tasks/creation-request.js";
import { type ClientError, messageWithNames } from "../client/client-error.js";
import { creationInput } from "../client/creation-input.js";
import { downloadImage } from "../client/download-image.js";
import type { PanoramaClient, Progress, ReferenceImage } from "../client/panorama-client.js";
import { resultOf } from "../client/panorama-error.js";
import type { PanoramaOutput, PanoramaTask, ProcessingTask } from "../client/resources.js";
import { rulePredicate } from "../wording/rule-predicate.js";
import { forecastWords } from "../wording/sentences.js";
import type { ProgressDisplay } from "./progress-display.js";

/** The options of `panorama generate`. */
export type GenerateOptions = {
  readonly prompt: string | undefined;
  /** URLs, paths of local files, and ids of own panoramas. */
  readonly images: readonly string[];
  readonly resolution: string;
  readonly visibility: string;
  /** Maximum cost in credits. */
  readonly maxCredits: string | undefined;
  readonly seed: string | undefined;
  /** The file to write. Default: a file in the current directory, named by the slug of the panorama. */
  readonly out: string | undefined;
};

/** The task as it is now. The first one has only been created. */
export type TaskChange = PanoramaTask | Pick<ProcessingTask, "id" | "status" | "credits_charged">;

export type GeneratedPanorama = { readonly task: PanoramaTask; readonly output: PanoramaOutput; readonly file: string };

/** Reason why no panorama was generated and saved. `message` is one line. */
export type GenerateError = {
  /** `usage`: an option is wrong; `refused`: the service rejects the request; `unreachable`: it does not answer. */
  readonly kind: "usage" | "not_found" | "refused" | "unreachable" | "failed" | "interrupted";
  readonly message: string;
};

/** Longer than the deadlines of the service for a generation and for saving its image. */
const WAIT_SECONDS = 15 * 60;
const IMAGE_LIMITS = { bytesMax: 100 * 1024 * 1024, seconds: 120 };

type Dependencies = {
  readonly client: PanoramaClient;
  readonly progress: ProgressDisplay;
  /** Takes the task each time that its status or its storage status has changed. */
  readonly onChange?: ((task: TaskChange) => void) | undefined;
  /** Ends the command, not the task. */
  readonly signal?: AbortSignal;
};

type WithSignal = Dependencies & { readonly signal: AbortSignal };

/** `panorama generate`: uploads images, creates the panorama, waits and saves the image. */
export const generatePanorama = async (
  { client, progress, onChange, signal = new AbortController().signal }: Dependencies,
  options: GenerateOptions,
): Promise<Result<GeneratedPanorama, GenerateError>> => {
  // Checks the whole request before anything is uploaded and credits are spent. A placeholder stands for each image
  // whose URL is not known yet.
  const checked = requestFor(
    options,
    options.images.map((image) => (isUrl(image) ? image : "https://uploaded.invalid/")),
  );
  if (checked.isErr()) return err(checked.error);
  const affordable = await requireAffordable({ client, signal }, checked.value);
  if (affordable.isErr()) return err(affordable.error);
  const writeError = await writeErrorOf(options.out);
  if (writeError !== undefined) return err(misused(writeError));

  const imageUrls = await urlsOf({ client, progress, signal }, options.images);
  if (imageUrls.isErr()) return err(imageUrls.error);
  const creation = requestFor(options, imageUrls.value);
  if (creation.isErr()) return err(creation.error);
  return createAndSave({ client, progress, onChange, signal }, creation.value, options.out);
};

const createAndSave = async (
  { client, progress, onChange, signal }: WithSignal,
  { request, maxCredits }: Creation,
  out: string | undefined,
): Promise<Result<GeneratedPanorama, GenerateError>> => {
  progress.step("Creating the panorama");
  const created = await resultOf(client.create(creationInput(request, maxCredits), { signal }));
  if (created.isErr()) return err(refusalOf(created.error));
  const { id, credits_charged } = created.value;
  const changed = onlyChanges(onChange);
  changed({ id, status: "processing", credits_charged });

  progress.step(`Generating (task ${id})`);
  const onProgress = ({ task, elapsedSeconds }: Progress) => {
    changed(task);
    const words = task.status === "processing" ? forecastWords(task) : [];
    const now = [`task ${id}`, `${Math.round(elapsedSeconds)} s`, ...words].join(", ");
    progress.step(`${task.status === "processing" ? "Generating" : "Storing the image"} (${now})`);
  };
  const waited = await resultOf(client.wait(id, { timeout: WAIT_SECONDS * 1000, signal, onProgress }));
  if (waited.isErr() && signal.aborted) {
    const message = `Interrupted. Task ${id} continues: the service finishes it and shows it under My panoramas.`;
    return err({ kind: "interrupted", message });
  }
  if (waited.isErr()) {
    const { kind, message } = refusalOf(waited.error);
    return err({ kind, message: `Task ${id} was created, but its status cannot be read: ${message}` });
  }
  const task = waited.value;
  changed(task);
  if (task.status === "failed") return err(failed(`Task ${id}: ${task.error.message}`));
  if (task.status === "processing" || task.output === undefined) {
    return err(
      failed(`Task ${id} is not finished after ${WAIT_SECONDS / 60} minutes. The service continues to process it.`),
    );
  }

  progress.step("Saving the image");
  const saved = await save(task.output, out, signal);
  return saved
    .map((file) => ({ task, output: task.output as PanoramaOutput, file }))
    .mapErr((reason) =>
      failed(
        `Task ${id} has succeeded (${task.output?.viewer_url ?? task.output?.image_url}), but its image could not be saved: ${reason}`,
      ),
    );
};

/** The state of a task in terms of the REST interface: `processing`, `succeeded, image uploading`, `failed: …`. */
export const stateOf = (task: TaskChange): string => {
  switch (task.status) {
    case "processing":
      return task.status;
    case "succeeded":
      return task.output === undefined ? task.status : `${task.status}, image ${task.output.storage_status}`;
    case "failed":
      return `${task.status}: ${task.error.message}`;
  }
};

const onlyChanges = (onChange: Dependencies["onChange"]) => {
  let shown: string | undefined;
  return (task: TaskChange) => {
    if (stateOf(task) === shown) return;
    shown = stateOf(task);
    onChange?.(task);
  };
};

const isUrl = (image: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(image);

const requestFor = (
  { prompt, resolution, visibility, maxCredits, seed, images }: GenerateOptions,
  imageUrls: readonly string[],
): Result<Creation, GenerateError> =>
  parseCreation({
    resolution,
    visibility,
    ...(prompt === undefined ? {} : { prompt }),
    ...(imageUrls.length === 0 ? {} : { image_urls: imageUrls }),
    ...(maxCredits === undefined ? {} : { max_credits: numberOf(maxCredits) }),
    ...(seed === undefined ? {} : { seed: numberOf(seed) }),
  }).mapErr((refusal) => misused(optionMessage(refusal, images)));

/** Asks for the price only if the panorama has a maximum. The service checks it again. */
const requireAffordable = async (
  { client, signal }: Pick<WithSignal, "client" | "signal">,
  { request: { resolution }, maxCredits }: Creation,
): Promise<Result<void, GenerateError>> => {
  if (maxCredits === undefined) return ok(undefined);
  const offer = await resultOf(client.offer({ signal }));
  if (offer.isErr()) return err(refusalOf(offer.error));
  const cost = offer.value.prices[resolution];
  if (cost <= maxCredits) return ok(undefined);
  return err(misused(`--max-credits: ${rulePredicate({ name: "cost_max", max: maxCredits, cost })}`));
};

/** Text that is not a number stays text, for the message. */
const numberOf = (text: string): number | string => (/^[0-9]+$/.test(text) ? Number(text) : text);

/** Names the parameter as on the command line: by its option, or an image as the person wrote it. */
const optionMessage = ({ field, index, rule }: InvalidRequest, images: readonly string[]): string => {
  const image = index === undefined ? undefined : images[index];
  return `${image ?? OPTIONS.get(field) ?? field}: ${rulePredicate(rule, { imageUrls: "images" })}`;
};

const OPTIONS: ReadonlyMap<string, string> = new Map([
  [WHOLE_BODY, "panorama"],
  ["image_urls", "--image"],
  ["resolution", "--resolution"],
  ["visibility", "--visibility"],
  ["max_credits", "--max-credits"],
  ["seed", "--seed"],
]);

const writeErrorOf = (out: string | undefined): Promise<string | undefined> =>
  access(out === undefined ? "." : dirname(resolve(out)), constants.W_OK).then(
    () => undefined,
    () => `${out ?? "The current directory"}: cannot be written.`,
  );

/** Uploads the local images in one request, after the panoramas are read. Returns the URLs of all images, in order. */
const urlsOf = async (
  { client, progress, signal }: WithSignal,
  images: readonly string[],
): Promise<Result<readonly string[], GenerateError>> => {
  const urls = new Map<number, string>();
  const paths: string[] = [];
  const files: ReferenceImage[] = [];
  for (const [index, image] of images.entries()) {
    const found = isUrl(image) ? ok(image) : await fileOrPanorama(image, client, signal);
    if (found.isErr()) return err(found.error);
    if (typeof found.value === "string") urls.set(index, found.value);
    else {
      files.push({ bytes: found.value, name: basename(image) });
      paths.push(image);
    }
  }
  if (paths.length === 0) return ok([...urls.values()]);
  progress.step(`Uploading ${paths.length === 1 ? "1 image" : `${paths.length} images`}`);
  const uploaded = await resultOf(client.upload(files, { signal }));
  if (uploaded.isErr()) {
    const names = new Map(paths.map((path, index) => [`files[${index}]`, path]));
    const message = messageWithNames(uploaded.error, names);
    return err(refusalOf({ ...uploaded.error, message, mayHaveBeenAccepted: false })); // an upload costs nothing
  }
  const uploads = [...uploaded.value.image_urls];
  return ok(images.map((image, index) => urls.get(index) ?? uploads.shift() ?? image));
};

/** The bytes of the file, or, if no file has this name, the URL of the own panorama with this id. */
const fileOrPanorama = async (
  image: string,
  client: PanoramaClient,
  signal: AbortSignal,
): Promise<Result<Uint8Array | string, GenerateError>> => {
  const bytes = await readFile(image).catch((error: NodeJS.ErrnoException) => error.code);
  if (typeof bytes === "object") return ok(bytes);
  if (bytes !== "ENOENT" || parseTaskId(image) === undefined) return err(misused(`${image}: cannot be read.`));
  const read = await resultOf(client.read(image, { signal }));
  if (read.isErr()) {
    const isUnknown = read.error.code === "not_found";
    return err(isUnknown ? misused(`${image}: is no file, and no panorama of this account.`) : refusalOf(read.error));
  }
  const { output } = read.value.status === "succeeded" ? read.value : {};
  if (!output?.storage_status.startsWith("saved")) {
    return err(misused(`${image}: this panorama has no stored image. Wait until it has, or use another one.`));
  }
  return ok(output.image_url);
};

const misused = (message: string): GenerateError => ({ kind: "usage", message });
const failed = (message: string): GenerateError => ({ kind: "failed", message });

const KINDS: Readonly<Record<ClientError["code"], GenerateError["kind"]>> = {
  invalid_request: "usage",
  invalid_api_key: "refused",
  insufficient_credits: "refused",
  rate_limited: "refused",
  too_many_active_tasks: "refused",
  not_found: "not_found",
  upstream_error: "failed",
  internal_error: "failed",
  timeout: "unreachable",
  network_error: "unreachable",
  unexpected_answer: "unreachable",
  aborted: "interrupted",
};

const refusalOf = (error: ClientError): GenerateError => ({ kind: KINDS[error.code], message: sentenceOf(error) });

const sentenceOf = ({ message, code, requestId, retryAfterSeconds, mayHaveBeenAccepted }: ClientError): string =>
  [
    `${message} (${code}${requestId === undefined ? "" : `, request ${requestId}`})`,
    ...(retryAfterSeconds === undefined ? [] : [`Try again in ${retryAfterSeconds} s.`]),
    ...(mayHaveBeenAccepted
      ? ["The panorama may have been accepted and charged. Check My panoramas before you try again."]
      : []),
  ].join(" ");

const save = async (
  output: PanoramaOutput,
  out: string | undefined,
  signal: AbortSignal,
): Promise<Result<string, string>> => {
  const downloaded = await downloadImage(output.image_url, { ...IMAGE_LIMITS, signal });
  if (downloaded.isErr()) return err(downloaded.error);
  const { bytes, type } = downloaded.value;
  // The slug comes from the network: basename() ensures that it is not a path.
  const file = resolve(out ?? basename(`panorama-${output.slug}.${FILE_EXTENSIONS[type]}`));
  try {
    await writeFile(file, bytes);
    return ok(file);
  } catch (error) {
    return err(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
};
