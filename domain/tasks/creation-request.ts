import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import type { Brand } from "../ids.js";
import { RESOLUTION_NAMES, type Resolution, resolutionsDescription } from "../images/resolution.js";
import { type BrokenRule, type InvalidRequest, invalidRequest, WHOLE_BODY } from "../invalid-request.js";
import { isBlank, isStorable, nearName } from "../text.js";
import { brokenTargetRule, WEBHOOK_URL_CHARACTERS_MAX } from "../webhooks/webhook-endpoint.js";
import { IMAGE_URLS_MAX, PROMPT_CHARACTERS_MAX } from "./abilities.js";
import {
  brokenMetadataRule,
  METADATA_KEY_CHARACTERS_MAX,
  METADATA_PAIRS_MAX,
  METADATA_VALUE_CHARACTERS_MAX,
  type Metadata,
} from "./metadata.js";
import { VISIBILITIES, VISIBILITIES_DESCRIPTION, type Visibility } from "./visibility.js";

/** Maximum seed of a generation: every model accepts this integer. */
export const SEED_MAX = 2 ** 31 - 1;

/** True for a whole number from 0 to `SEED_MAX`. */
const isSeed = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= SEED_MAX;

// In a file that does not load zod.
export { IMAGE_URLS_MAX, PROMPT_CHARACTERS_MAX };

/** Minimum length of a prompt, in characters. */
export const PROMPT_CHARACTERS_MIN = 3;
/** Maximum length of an image URL, in characters. */
export const IMAGE_URL_CHARACTERS_MAX = 2048;

/** A creation request that keeps every rule of the specification (Creation request). Only the parser creates one. */
export type CreationRequest = Brand<Fields, "CreationRequest">;

type Fields = {
  readonly resolution: Resolution;
  /** Trimmed, 1 to 4000 characters, not all of them invisible; `undefined` only if there are image URLs. */
  readonly prompt: string | undefined;
  /** 0 to 3 URLs, https or of this service; with at least one, the panorama is made from images. */
  readonly imageUrls: readonly string[];
  readonly visibility: Visibility;
  /** 0 to 2^31 - 1. Providers without seeds ignore it. */
  readonly seed: number | undefined;
  readonly metadata: Metadata;
  /** Called when the task ends and when its image is saved. An https URL, or http at an origin of the operator. */
  readonly webhookUrl: string | undefined;
};

const isUrl = (text: string): boolean => /^https?:\/\//.test(text) && !/[\s\p{Cc}]/u.test(text) && URL.canParse(text);

/** False for a URL with user name or password, which would be stored, logged and sent to the provider. */
const hasNoUserInfo = (text: string): boolean => {
  const { username, password } = new URL(text);
  return username === "" && password === "";
};

/** Counts code points, as people and JSON Schema do: an emoji is one character, not two UTF-16 units. */
const characters = (text: string): number => [...text].length;

/** Options of a zod refinement: the rule that the input breaks. After it, no other check of the same value runs. */
const brokenRule = <Input = string>(rule: (input: Input) => BrokenRule) => ({ params: { rule }, abort: true });

/**
 * An http or https URL without user name and password. Later checks refuse http: elsewhere than at this service for an
 * image (application/panoramas/read-image-urls.ts), elsewhere than at an origin of the operator for a webhook.
 */
const urlSchema = (charactersMax: number) =>
  z
    .string()
    .refine(
      (url) => characters(url) <= charactersMax,
      brokenRule((url) => ({ name: "characters_max", max: charactersMax, actual: characters(url) })),
    )
    .refine(
      isStorable,
      brokenRule(() => ({ name: "storable_text" })),
    )
    .refine(
      isUrl,
      brokenRule((url) => ({ name: "https_url", actual: url })),
    )
    .refine(
      hasNoUserInfo,
      brokenRule(() => ({ name: "no_user_info" })),
    )
    .meta({ format: "uri", pattern: "^https?://", maxLength: charactersMax });

/** The trimmed prompt; empty if nothing of it is visible. */
const textOf = (prompt: string): string => (isBlank(prompt) ? "" : prompt.trim());

/** The creation request as it is sent (specification, Creation request). Unknown fields are ignored. */
export const creationRequestSchema = z
  .object({
    resolution: z.enum(RESOLUTION_NAMES).meta({ description: resolutionsDescription() }),
    prompt: z
      .string()
      .refine(
        isStorable,
        brokenRule(() => ({ name: "storable_text" })),
      )
      .refine(
        (prompt) => characters(prompt.trim()) <= PROMPT_CHARACTERS_MAX,
        brokenRule((prompt) => ({
          name: "characters_max",
          max: PROMPT_CHARACTERS_MAX,
          actual: characters(prompt.trim()),
        })),
      )
      .meta({ maxLength: PROMPT_CHARACTERS_MAX })
      .optional(),
    image_urls: z
      .array(urlSchema(IMAGE_URL_CHARACTERS_MAX))
      // Not `max`: zod would compare the `length` of any object, and throw if that is an object itself.
      .refine(
        (urls) => urls.length <= IMAGE_URLS_MAX,
        brokenRule((urls) => ({ name: "items_max", max: IMAGE_URLS_MAX, actual: urls.length })),
      )
      .meta({ maxItems: IMAGE_URLS_MAX })
      .optional(),
    visibility: z.enum(VISIBILITIES).meta({ description: VISIBILITIES_DESCRIPTION }).default("private"),
    seed: z
      .unknown()
      .refine(
        isSeed,
        brokenRule<unknown>((actual) => ({ name: "integer", min: 0, max: SEED_MAX, actual })),
      )
      .meta({
        type: "integer",
        minimum: 0,
        maximum: SEED_MAX,
        description:
          "With the same prompt and seed, a provider that takes seeds makes the same picture. Others ignore it.",
      })
      .optional(),
    metadata: z
      .unknown()
      .superRefine((metadata, context) => {
        const rule = brokenMetadataRule(metadata);
        if (rule !== undefined) context.addIssue({ code: "custom", ...brokenRule(() => rule) });
      })
      .meta({
        type: "object",
        maxProperties: METADATA_PAIRS_MAX,
        propertyNames: { minLength: 1, maxLength: METADATA_KEY_CHARACTERS_MAX },
        additionalProperties: { type: "string", maxLength: METADATA_VALUE_CHARACTERS_MAX },
        description: "Your own data about the task. The list of tasks can be filtered by it.",
        example: { order: "A-17" },
      })
      .optional(),
    max_credits: z
      .int()
      .min(0)
      .optional()
      .meta({ description: "The most that this panorama may cost. If it costs more, nothing is created or reserved." }),
    webhook_url: urlSchema(WEBHOOK_URL_CHARACTERS_MAX)
      .meta({
        format: "uri",
        pattern: "^https://",
        maxLength: WEBHOOK_URL_CHARACTERS_MAX,
        description:
          "Receives the events of this task as webhooks, signed with the default secret of the account, besides the endpoints of the account. A host at a private address, or localhost, is refused.",
      })
      .optional(),
  })
  .superRefine(({ prompt, image_urls }, context) => {
    if (image_urls !== undefined && image_urls.length > 0) return;
    if (prompt === undefined) {
      context.addIssue({ code: "custom", path: [], ...brokenRule(() => ({ name: "prompt_or_images" })) });
    } else if (characters(textOf(prompt)) < PROMPT_CHARACTERS_MIN) {
      context.addIssue({
        code: "custom",
        path: ["prompt"],
        ...brokenRule(() => ({ name: "prompt_without_images", min: PROMPT_CHARACTERS_MIN, actual: prompt })),
      });
    }
  });

/**
 * `maxCredits`: the client's price limit. Not stored, because it is not part of the panorama. The use case compares it
 * with the price (application/panoramas/creations.ts).
 */
export type Creation = { readonly request: CreationRequest; readonly maxCredits: number | undefined };

/**
 * Parses the decoded JSON body of `POST /panoramas`. The error names the first field that is invalid or probably
 * misspelled; other unknown fields are ignored. A `webhook_url` may be http and private at `webhookPrivateOrigins`, as
 * the URL of an endpoint may (domain/webhooks/webhook-endpoint.ts).
 */
export const parseCreation = (
  body: unknown,
  webhookPrivateOrigins: readonly string[] = [],
): Result<Creation, InvalidRequest> => {
  const parsed = creationSchema.safeParse(body, { reportInput: true });
  if (!parsed.success) return err(firstBrokenRule(parsed.error));
  const { webhookUrl } = parsed.data.request;
  const broken = webhookUrl === undefined ? undefined : brokenTargetRule(webhookUrl, webhookPrivateOrigins);
  return broken === undefined ? ok(parsed.data) : err(invalidRequest("webhook_url", broken));
};

/** A body may have any number of unknown fields. */
const UNKNOWN_COMPARED_MAX = 100;

/**
 * Removes `null` members: many languages send `null` for an omitted field. Then refuses a probably misspelled field,
 * which would otherwise be ignored silently.
 */
const sentFields = (body: unknown, context: z.RefinementCtx): unknown => {
  if (typeof body !== "object" || body === null || Array.isArray(body)) return body;
  const sent = Object.entries(body).filter(([name, value]) => value !== null || name === "resolution");
  const ours = Object.keys(creationRequestSchema.shape);
  const unknown = sent.map(([name]) => name).filter((name) => !ours.includes(name));
  for (const name of unknown.slice(0, UNKNOWN_COMPARED_MAX)) {
    const meant = nearName(name, ours);
    if (meant === undefined) continue;
    context.addIssue({ code: "custom", path: [name], ...brokenRule(() => ({ name: "misnamed", meant })) });
    break;
  }
  return sent.length < Object.keys(body).length ? Object.fromEntries(sent) : body;
};

const toCreation = (sent: z.output<typeof creationRequestSchema>): Creation => {
  const { resolution, prompt, image_urls: imageUrls, visibility, seed, metadata, webhook_url: webhookUrl } = sent;
  const request: Fields = {
    resolution,
    prompt: textOf(prompt ?? "") || undefined,
    imageUrls: imageUrls ?? [],
    visibility,
    // The schema has checked both. JSON has a -0, which databases do not return.
    seed: seed === undefined ? undefined : Math.abs(seed as number),
    metadata: { ...(metadata as Metadata | undefined) },
    webhookUrl,
  };
  return { request: request as CreationRequest, maxCredits: sent.max_credits };
};

/** From the JSON body to the creation. An issue of a step ends it. */
const creationSchema = z.preprocess(sentFields, creationRequestSchema).transform(toCreation);

/** `parseCreation` without `maxCredits`. */
export const parseCreationRequest = (body: unknown): Result<CreationRequest, InvalidRequest> =>
  parseCreation(body).map(({ request }) => request);

const firstBrokenRule = ({ issues: [issue] }: z.ZodError): InvalidRequest => {
  if (issue === undefined) throw new Error("zod refused the creation request without an issue");
  const [field, index] = issue.path as [string?, number?];
  return invalidRequest(field ?? WHOLE_BODY, ruleOf(issue), index);
};

/** Throws for an issue that `creationRequestSchema` cannot raise. */
const ruleOf = (issue: z.core.$ZodIssue): BrokenRule => {
  const { input } = issue;
  if (issue.path[0] === "max_credits") {
    return { name: "integer", min: 0, max: Number.MAX_SAFE_INTEGER, actual: input };
  }
  switch (issue.code) {
    case "invalid_value":
      return { name: "one_of", allowed: issue.values.map(String), actual: input };
    case "invalid_type":
      return { name: "type", expected: EXPECTED[issue.expected] ?? "object", actual: input };
    case "custom":
      return issue.params?.rule(input);
    default:
      throw new Error(`the creation request has no rule for zod's issue ${issue.code}`);
  }
};

const EXPECTED: Partial<Record<string, "string" | "strings">> = { string: "string", array: "strings" };
