import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import type { Brand } from "./brand.js";
import { type InvalidRequest, invalidBySchema, shown } from "./invalid-request.js";
import { type Resolution, resolutionSchema } from "./resolution.js";
import { type Visibility, visibilitySchema } from "./visibility.js";

export const PROMPT_CHARACTERS_MIN = 3;
export const IMAGE_URLS_MAX = 3;
export const IMAGE_URL_CHARACTERS_MAX = 2048;

/** A creation request that keeps every rule of the specification (Creation request): only the parser makes one. */
export type CreationRequest = Brand<Fields, "CreationRequest">;

type Fields = {
  readonly resolution: Resolution;
  /** Without white space around it, and not empty; absent only if there are image URLs. */
  readonly prompt: string | undefined;
  /** 0 to 3 https URLs; any at all means image-to-panorama. */
  readonly imageUrls: readonly string[];
  readonly visibility: Visibility;
};

/** Text that every store keeps as it is: databases refuse U+0000, and half a surrogate pair is not a character. */
const storable = (text: string): boolean => !text.includes("\u0000") && text.isWellFormed();

const isHttpsUrl = (text: string): boolean =>
  text.startsWith("https://") && !/[\s\p{Cc}]/u.test(text) && URL.canParse(text);

/** A password in a URL would be kept, logged and passed on to the provider. */
const hasNoUserInfo = (text: string): boolean => {
  const { username, password } = new URL(text);
  return username === "" && password === "";
};

/** Counted as people count them, and as JSON Schema does: an emoji is one, not two UTF-16 units. */
const characters = (text: string): number => [...text].length;

/** The creation request as it is sent (specification, Creation request). Fields that it does not know are ignored. */
export const creationRequestSchema = z
  .object(
    {
      resolution: z
        .enum(resolutionSchema.options, {
          error: ({ input }) => `must be "1k", "2k" or "4k", but is ${shown(input)}.`,
        })
        .meta({ description: resolutionSchema.description }),
      prompt: z
        .string({ error: ({ input }) => `must be a string, but is ${shown(input)}.` })
        .refine(storable, "must be valid Unicode text without NUL characters.")
        .optional(),
      image_urls: z
        .array(
          z
            .string({ error: ({ input }) => `must be a string, but is ${shown(input)}.` })
            .refine((url) => characters(url) <= IMAGE_URL_CHARACTERS_MAX, {
              error: ({ input }) =>
                `must have at most ${IMAGE_URL_CHARACTERS_MAX} characters, but has ${characters(String(input))}.`,
              abort: true,
            })
            .refine(storable, { error: "must be valid Unicode text without NUL characters.", abort: true })
            .refine(isHttpsUrl, {
              error: ({ input }) => `must be a complete URL that starts with https://, but is ${shown(input)}.`,
              abort: true,
            })
            .refine(hasNoUserInfo, "must not have a user name or password in front of the host.")
            .meta({ format: "uri", pattern: "^https://", maxLength: IMAGE_URL_CHARACTERS_MAX }),
          { error: ({ input }) => `must be an array of strings, but is ${shown(input)}.` },
        )
        .max(IMAGE_URLS_MAX, {
          error: ({ input }) =>
            `must have at most ${IMAGE_URLS_MAX} items, but has ${Array.isArray(input) ? input.length : "more"}.`,
        })
        .optional(),
      visibility: z
        .enum(visibilitySchema.options, {
          error: ({ input }) => `must be "private" or "public", but is ${shown(input)}.`,
        })
        .meta({ description: visibilitySchema.description })
        .default("private"),
    },
    { error: ({ input }) => `must be a JSON object, but is ${shown(input)}.` },
  )
  .superRefine(({ prompt, image_urls }, context) => {
    if (image_urls !== undefined && image_urls.length > 0) return;
    if (prompt === undefined) {
      context.addIssue({ code: "custom", path: [], message: "needs a prompt, image_urls, or both." });
    } else if (characters(prompt.trim()) < PROMPT_CHARACTERS_MIN) {
      context.addIssue({
        code: "custom",
        path: ["prompt"],
        message: `must have at least ${PROMPT_CHARACTERS_MIN} characters, without the white space around them, when image_urls is omitted, but is ${shown(prompt)}.`,
      });
    }
  });

/** Parses the decoded JSON body of `POST /panoramas`; the error names the first field that breaks a rule. */
export const parseCreationRequest = (body: unknown): Result<CreationRequest, InvalidRequest> => {
  const parsed = creationRequestSchema.safeParse(body);
  if (!parsed.success) return err(invalidBySchema(parsed.error, "request body"));
  const { resolution, prompt, image_urls, visibility } = parsed.data;
  const fields: Fields = { resolution, prompt: prompt?.trim() || undefined, imageUrls: image_urls ?? [], visibility };
  return ok(fields as CreationRequest);
};

/** The same text for every request that means the same: whatever the key order, with defaults spelt out or not. */
export const canonicalText = ({ resolution, prompt, imageUrls, visibility }: CreationRequest): string =>
  JSON.stringify([resolution, prompt ?? null, imageUrls, visibility]);
