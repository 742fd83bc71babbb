import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import type { Abilities } from "../../domain/tasks/abilities.js";
import { messageWithNames } from "../client/client-error.js";
import type { Offer } from "../client/offer.js";
import type { PanoramaClient, ReferenceImage } from "../client/panorama-client.js";
import { resultOf } from "../client/result-of.js";
import { abilitiesOf } from "../client/told-abilities.js";
import { imagesSentence } from "../wording/abilities-sentence.js";
import { hours } from "../wording/hours.js";
import { mebibytes } from "../wording/mebibytes.js";
import type { AllowedFolders } from "./allowed-folders.js";
import { type Tool, tool } from "./tool.js";
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
};

export const uploadReferenceImages = ({ offer, client, site, folders }: Dependencies): Tool => {
  const { uploads } = offer;
  const abilities = abilitiesOf(offer.abilities);
  return tool({
    name: "upload_reference_images",
    title: "Upload reference images",
    description:
      `Uploads 1 to ${uploads.files} images (JPEG, PNG or WebP; at most ${mebibytes(uploads.file_bytes)} each and ` +
      `${mebibytes(uploads.total_bytes)} in total) and returns their public URLs in the same order. Free. ${useOf(abilities, "the URLs")} ` +
      `Everybody who has such a URL can open it. ${keptFor(uploads.unused_hours)}`,
    // Equal bytes always get the same URL.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    input: z.strictObject({
      images: z
        .array(image)
        .max(uploads.files, { error: ({ input }) => countMessage((input as unknown[]).length, uploads.files) })
        .default([])
        .describe(
          `1 to ${uploads.files} images as raw base64. data: URLs are not accepted. For large local files, prefer paths.`,
        ),
      paths: z
        .array(z.string().min(1, "must not be empty.").max(4096))
        .max(uploads.files, { error: ({ input }) => countMessage((input as unknown[]).length, uploads.files) })
        .default([])
        .describe(
          `Absolute paths of local image files, instead of images or in addition to them. ${folders.description}`,
        ),
    }),
    output: z.object({
      image_urls: z.array(z.string()).describe("Public URLs, in order: first the images, then the paths."),
      expires_at: z
        .string()
        .optional()
        .describe("An image that no panorama uses is kept until then (RFC 3339); upload it again after that."),
    }),
    run: async ({ images, paths }, { signal }) => {
      const count = images.length + paths.length;
      if (count === 0 || count > uploads.files) return err(invalidArguments(countMessage(count, uploads.files)));
      const files = await readAll(images, paths, folders, uploads.file_bytes);
      if (files.isErr()) return err(files.error);
      const uploaded = await resultOf(client.upload(files.value, { limits: uploads, signal }));
      return uploaded
        .map(({ image_urls, expires_at }) => ({
          structured: { image_urls: [...image_urls], ...(expires_at === undefined ? {} : { expires_at }) },
          text: `Uploaded ${count === 1 ? "1 image" : `${count} images`}:\n${image_urls.join("\n")}\n${useOf(abilities, "these URLs")}${expires_at === undefined ? "" : ` Unused, they are kept until ${expires_at}.`}`,
        }))
        .mapErr((error) => {
          // An upload costs nothing and can be repeated: equal bytes are one object.
          const message = messageWithNames(error, argumentNames(images.length, paths.length));
          return error.code === "invalid_request" && error.status === undefined
            ? invalidArguments(message)
            : toolErrorOf({ ...error, message, mayHaveBeenAccepted: false }, site);
        });
    },
  });
};

/** What to do with the URLs of an upload. */
const useOf = (abilities: Abilities, urls: string): string =>
  abilities.imagesMax === 0
    ? `${imagesSentence(abilities)} Do not use ${urls} there.`
    : `Next: use up to ${abilities.imagesMax} of ${urls} as image_urls of generate_panorama_from_images.`;

/** `hours`: that of the service, if it tells. */
const keptFor = (unusedHours: number | undefined): string =>
  `An image that no panorama uses is deleted ${unusedHours === undefined ? "" : `after ${hours(unusedHours)}, `}at expires_at.`;

const countMessage = (count: number, max: number): string =>
  `images: must be 1 to ${max} images, but there are ${count}.`;

/** The service names the files of one request by their position; the caller knows them as `images` and `paths`. */
const argumentNames = (images: number, paths: number): ReadonlyMap<string, string> =>
  new Map([
    ["files", "images"],
    ...Array.from({ length: images }, (_, index): [string, string] => [`files[${index}]`, `images[${index}]`]),
    ...Array.from({ length: paths }, (_, index): [string, string] => [`files[${images + index}]`, `paths[${index}]`]),
  ]);

const readAll = async (
  images: readonly z.infer<typeof image>[],
  paths: readonly string[],
  folders: AllowedFolders,
  fileBytesMax: number,
): Promise<Result<readonly ReferenceImage[], ToolError>> => {
  const files: ReferenceImage[] = [];
  for (const [index, given] of images.entries()) {
    const { data, name, type } = typeof given === "string" ? { data: given } : given;
    const bytes = decode(data);
    if (bytes.isErr()) return err(invalidArguments(`images[${index}]: ${bytes.error}`));
    files.push({
      bytes: bytes.value,
      ...(name === undefined ? {} : { name }),
      ...(type === undefined ? {} : { type }),
    });
  }
  for (const [index, path] of paths.entries()) {
    const file = await folders.read(path, fileBytesMax);
    if (file.isErr()) return err(invalidArguments(`paths[${index}]: ${file.error}`));
    files.push(file.value);
  }
  return ok(files);
};

/** Node decodes any text without an error, so valid base64 is text that is the same after decoding and encoding. */
const decode = (data: string): Result<Uint8Array, string> => {
  if (data.startsWith("data:")) return err("is a data: URL; send only the raw base64 after its comma.");
  const text = data.replace(/\s+/g, "");
  const bytes = Buffer.from(text, "base64");
  return bytes.length > 0 && bytes.toString("base64").replace(/=+$/, "") === text.replace(/={0,2}$/, "")
    ? ok(bytes)
    : err("is not valid base64.");
};
