import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type { Clock } from "../../application/ports/clock.js";
import type { Abilities } from "../../domain/tasks/abilities.js";
import { messageWithNames } from "../client/client-error.js";
import { abilitiesOf, type Offer } from "../client/offer.js";
import type { PanoramaClient, ReferenceImage } from "../client/panorama-client.js";
import { resultOf } from "../client/panorama-error.js";
import { hours, mebibytes } from "../wording/numbers.js";
import { imagesSentence } from "../wording/sentences.js";
import type { AllowedFolders } from "./allowed-folders.js";
import type { downloadFromWeb } from "./download-from-web.js";
import { CALL_MILLISECONDS, type Tool, tool } from "./tool.js";
import { invalidArguments, type ToolError, toolErrorOf } from "./tool-error.js";

const base64 = z.string().min(1, "must not be empty.");
const image = z.union(
  [
    z.strictObject({
      data: base64.describe("The image file as raw base64, without a data: prefix."),
      name: z.string().max(255).optional().describe("A file name, such as harbour.jpg."),
      type: z.string().max(100).optional().describe("image/jpeg, image/png or image/webp. Must match the data."),
    }),
    base64.describe("The image file as raw base64, without name and type."),
  ],
  { error: "must be raw base64, or an object with data (raw base64) and optionally name and type." },
);

type Dependencies = {
  readonly offer: Offer;
  readonly client: PanoramaClient;
  readonly site: string;
  readonly folders: AllowedFolders;
  readonly clock: Clock;
  readonly download: typeof downloadFromWeb;
};

/** For all paths and all URLs of a call. The upload has the rest of the time. */
const COLLECT_MILLISECONDS = 15_000;

export const uploadReferenceImages = (dependencies: Dependencies): Tool => {
  const { offer, folders } = dependencies;
  const { uploads } = offer;
  const abilities = abilitiesOf(offer.abilities);
  const list = <Item extends z.ZodType>(item: Item) =>
    z
      .array(item)
      .max(uploads.files, { error: ({ input }) => countMessage((input as unknown[]).length, uploads.files) })
      .default([]);
  return tool({
    name: "upload_reference_images",
    title: "Upload reference images",
    description:
      `Uploads 1 to ${uploads.files} images (JPEG, PNG or WebP; at most ${mebibytes(uploads.file_bytes)} each and ` +
      `${mebibytes(uploads.total_bytes)} in total) and returns their public URLs in the same order. Free. ${useOf(abilities, "the URLs")} ` +
      `Everybody who has such a URL can open it. ${keptFor(uploads.unused_hours)} An attachment of the chat never ` +
      "reaches this tool: ask the person for its file or its https:// URL.",
    // Equal bytes always get the same URL.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    input: z.strictObject({
      images: list(image).describe(
        `1 to ${uploads.files} images as raw base64. data: URLs are not accepted. For large local files, prefer paths.`,
      ),
      paths: list(z.string().min(1, "must not be empty.").max(4096, "must have at most 4096 characters.")).describe(
        `Absolute paths of local image files, instead of images or in addition to them. ${folders.description}`,
      ),
      urls: list(z.string()).describe(
        "Public https:// URLs of images, which this server downloads and uploads. Useful if a URL expires soon.",
      ),
    }),
    output: z.object({
      image_urls: z
        .array(z.string())
        .describe("Public URLs, in order: first the images, then the paths, then the urls."),
      expires_at: z
        .string()
        .describe("An image that no panorama uses is kept until then (RFC 3339); upload it again after that."),
    }),
    run: (given, { signal }) => upload(dependencies, abilities, given, signal),
  });
};

async function upload(dependencies: Dependencies, abilities: Abilities, given: Given, signal: AbortSignal) {
  const { offer, client, site, clock } = dependencies;
  const { uploads } = offer;
  const { images, paths, urls } = given;
  const count = images.length + paths.length + urls.length;
  if (count === 0 || count > uploads.files) {
    return err(invalidArguments(countMessage(count, uploads.files), countCorrection(count, uploads.files)));
  }
  const start = clock.now().getTime();
  const files = await readAll(given, dependencies, signal);
  if (files.isErr()) return err(files.error);
  const timeout = CALL_MILLISECONDS - (clock.now().getTime() - start);
  const uploaded = await resultOf(client.upload(files.value, { limits: uploads, signal, timeout }));
  return uploaded
    .map(({ image_urls, expires_at }) => ({
      structured: { image_urls: [...image_urls], expires_at },
      message: `Uploaded ${count === 1 ? "1 image" : `${count} images`}:\n${image_urls.join("\n")}\n${useOf(abilities, "these URLs")} Unused, they are kept until ${expires_at}.`,
    }))
    .mapErr((error) => {
      // An upload costs nothing and can be repeated: equal bytes are one object.
      const message = messageWithNames(error, argumentNames(given));
      return error.code === "invalid_request" && error.status === undefined
        ? invalidArguments(message, "Ask the person for another image, or a smaller one, and upload that.")
        : toolErrorOf({ ...error, message, mayHaveBeenAccepted: false }, site);
    });
}

/** Advice for the URLs of an upload. */
const useOf = (abilities: Abilities, urls: string): string =>
  abilities.imagesMax === 0
    ? `${imagesSentence(abilities)} Do not use ${urls} there.`
    : `Next: use up to ${abilities.imagesMax} of ${urls} as image_urls of generate_panorama_from_images.`;

/** `hours`: the retention of the service, if it is known. */
const keptFor = (unusedHours: number | undefined): string =>
  `An image that no panorama uses is deleted ${unusedHours === undefined ? "" : `after ${hours(unusedHours)}, `}at expires_at.`;

const countMessage = (count: number, max: number): string =>
  `images: must be 1 to ${max} images, but there are ${count}.`;

const countCorrection = (count: number, max: number): string =>
  count === 0
    ? "Ask the person for the path of an image file or for its https:// URL, and call the tool again with paths or urls."
    : `Call the tool again with at most ${max} images, paths and urls together.`;

type Given = {
  readonly images: readonly z.infer<typeof image>[];
  readonly paths: readonly string[];
  readonly urls: readonly string[];
};

/** The service names the files of one request by their position; the caller knows them by three arguments. */
function argumentNames(given: Given): ReadonlyMap<string, string> {
  const arguments_ = (["images", "paths", "urls"] as const).flatMap((name) =>
    given[name].map((_, index) => `${name}[${index}]`),
  );
  return new Map([
    ["files", "images"],
    ...arguments_.map((argument, index): [string, string] => [`files[${index}]`, argument]),
  ]);
}

async function readAll(
  { images, paths, urls }: Given,
  { folders, clock, download, offer }: Dependencies,
  called: AbortSignal,
): Promise<Result<readonly ReferenceImage[], ToolError>> {
  const files: ReferenceImage[] = [];
  for (const [index, given] of images.entries()) {
    const { data, name, type } = typeof given === "string" ? { data: given } : given;
    const bytes = decode(data);
    if (bytes.isErr()) {
      const argument = `images[${index}]`;
      return err(
        invalidArguments(`${argument}: ${bytes.error}`, `Call the tool again with raw base64 in ${argument}.`),
      );
    }
    files.push({
      bytes: bytes.value,
      ...(name === undefined ? {} : { name }),
      ...(type === undefined ? {} : { type }),
    });
  }
  if (paths.length + urls.length === 0) return ok(files);
  const late = new AbortController();
  const done = new AbortController();
  void clock.sleep(COLLECT_MILLISECONDS, done.signal).then(() => late.abort());
  const signal = AbortSignal.any([called, late.signal]);
  const bytesMax = offer.uploads.file_bytes;
  try {
    for (const [index, path] of paths.entries()) {
      const file = await folders.read(path, bytesMax, signal);
      if (file.isErr()) return err(invalidArguments(`paths[${index}]: ${file.error}`, folders.whatToDo(path)));
      files.push(file.value);
    }
    for (const [index, url] of urls.entries()) {
      const file = await download(url, { bytesMax, signal });
      if (file.isErr()) return err(invalidArguments(`urls[${index}]: ${file.error}`, OTHER_URL));
      files.push(file.value);
    }
    return ok(files);
  } finally {
    done.abort();
  }
}

const OTHER_URL =
  "Ask the person for another https:// URL of the image, or for the file itself, and upload that. Do not try other URLs.";

/** Node decodes any text without an error, so valid base64 is text that is the same after decoding and encoding. */
function decode(data: string): Result<Uint8Array, string> {
  if (data.startsWith("data:")) return err("is a data: URL; send only the raw base64 after its comma.");
  const text = data.replace(/\s+/g, "");
  const bytes = Buffer.from(text, "base64");
  return bytes.length > 0 && bytes.toString("base64").replace(/=+$/, "") === text.replace(/={0,2}$/, "")
    ? ok(bytes)
    : err("is not valid base64.");
}
