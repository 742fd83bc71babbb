import { err, ok, type Result } from "neverthrow";
import { z } from "zod";
import {
  type CreationRequest,
  canonicalText,
  IMAGE_URL_CHARACTERS_MAX,
  IMAGE_URLS_MAX,
  PROMPT_CHARACTERS_MIN,
  parseCreationRequest,
} from "../../domain/creation-request.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { costOf, RESOLUTIONS, resolutionSchema } from "../../domain/resolution.js";
import { visibilitySchema } from "../../domain/visibility.js";
import { createdTaskSchema } from "../client/answers.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { parameterName } from "../wording/parameter-name.js";
import { rulePredicate } from "../wording/rule-predicate.js";
import { type Tool, type ToolAnswer, type ToolCall, tool } from "./tool.js";
import { budgetExceeded, invalidArguments, type ToolError, toolErrorOf } from "./tool-error.js";

/** `1k = 1024 × 512 pixels, 4 credits` and so on. */
const sizes = Object.entries(RESOLUTIONS).map(
  ([name, { widthPixels, heightPixels, credits }]) =>
    `${name} = ${widthPixels} × ${heightPixels} pixels, ${credits} credits`,
);
/** `4 (1k), 6 (2k), or 10 (4k)` */
const prices = new Intl.ListFormat("en", { type: "disjunction" }).format(
  Object.entries(RESOLUTIONS).map(([name, { credits }]) => `${credits} (${name})`),
);

const resolution = z
  .enum(resolutionSchema.options)
  .describe(`Size and price: ${sizes.join("; ")}. Take 1k for a first try.`);
const visibility = z
  .enum(visibilitySchema.options)
  .default("private")
  .describe(
    "private (default): the viewer is for the account's owner only, after login. " +
      "public: anybody can see it, and it is shown in the public gallery; only if the person asked for that.",
  );
const max_credits = z
  .int()
  .min(0)
  .optional()
  .describe(
    "The most that this one creation may cost. If the resolution costs more, the tool answers budget_exceeded and " +
      "nothing is created or charged. It does not limit what the account spends in total.",
  );

const created = createdTaskSchema.extend({
  id: createdTaskSchema.shape.id.describe("The task's id, for get_panorama_task."),
  credits_charged: createdTaskSchema.shape.credits_charged.describe(
    "Credits reserved now; they come back by themselves if the generation fails.",
  ),
});

const afterwards =
  "Answers at once with a task id; the generation itself takes about 30 to 60 seconds. Then call get_panorama_task with " +
  "that id every few seconds, or with wait_seconds, until it has succeeded or failed. Do not call this tool again to see " +
  "how it goes: that would make and charge another panorama. At most 5 tasks may run at once.";

/** Each call creates another panorama and spends credits; it destroys nothing. */
const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true };

type Dependencies = {
  readonly client: PanoramaClient;
  readonly site: string;
  readonly newIdempotencyKey: () => string;
};

/** The two tools that spend credits. */
export const generateTools = (dependencies: Dependencies): readonly Tool[] => {
  const create = creations(dependencies);
  return [
    tool({
      name: "generate_panorama_from_text",
      title: "Generate a panorama from text",
      description: `Creates a 360° equirectangular panorama from a description. Costs ${prices} credits. ${afterwards}`,
      annotations,
      input: z.strictObject({
        prompt: z
          .string()
          .meta({ minLength: PROMPT_CHARACTERS_MIN })
          .describe("What the panorama shows: place, light, mood, style. At least 3 characters."),
        resolution,
        visibility,
        max_credits,
      }),
      output: created,
      run: create,
    }),
    tool({
      name: "generate_panorama_from_images",
      title: "Generate a panorama from images",
      description:
        "Creates a 360° equirectangular panorama from 1 to 3 reference images, with an optional description. " +
        `Costs ${prices} credits. ${afterwards}`,
      annotations,
      input: z.strictObject({
        image_urls: z
          .array(z.string().meta({ pattern: "^https://", maxLength: IMAGE_URL_CHARACTERS_MAX }))
          .min(1, "must have 1 to 3 items, but has none.")
          .meta({ maxItems: IMAGE_URLS_MAX })
          .describe(
            "1 to 3 public https:// URLs of images. For an image that has none (a local file, or one from the chat) " +
              "call upload_reference_images first and use the URLs that it returns. data: URLs are not taken.",
          ),
        prompt: z.string().optional().describe("What to make of the images; may be left out."),
        resolution,
        visibility,
        max_credits,
      }),
      output: created,
      run: create,
    }),
  ];
};

type CreationArguments = { readonly max_credits?: number | undefined; readonly [field: string]: unknown };

const creations = ({ client, site, newIdempotencyKey }: Dependencies) => {
  /** Keys of creations whose end is in doubt. The same request again continues one of them, and is not charged twice. */
  const inDoubt = new Map<string, string>();

  return async (
    { max_credits: maxCredits, ...fields }: CreationArguments,
    { signal }: ToolCall,
  ): Promise<Result<ToolAnswer<z.infer<typeof created>>, ToolError>> => {
    const request = parseCreationRequest(fields);
    if (request.isErr()) return err(invalidArguments(argumentMessage(request.error)));
    const cost = costOf(request.value.resolution);
    if (maxCredits !== undefined && cost > maxCredits) return err(budgetExceeded(cost, maxCredits));

    const text = canonicalText(request.value);
    const earlierKey = inDoubt.get(text);
    inDoubt.delete(text); // two calls at once are two creations: only one of them may continue the earlier one
    const idempotencyKey = earlierKey ?? newIdempotencyKey();
    const task = await client.create(request.value, { idempotencyKey, signal });
    if (task.isErr()) {
      if (task.error.mayHaveBeenAccepted || (earlierKey !== undefined && isUndecided(task.error.code))) {
        inDoubt.set(text, idempotencyKey);
      }
      return err(toolErrorOf(task.error, site));
    }
    return ok({ structured: task.value, text: textOf(task.value, request.value, earlierKey !== undefined) });
  };
};

const argumentMessage = (refusal: InvalidRequest): string =>
  `${parameterName(refusal) ?? "arguments"}: ${rulePredicate(refusal.rule)}`;

/** An answer that says nothing about a creation that was sent before. */
const isUndecided = (code: ToolError["code"]): boolean =>
  !["invalid_request", "insufficient_credits", "too_many_active_tasks", "upstream_error"].includes(code);

const textOf = (task: z.infer<typeof created>, { resolution }: CreationRequest, continued: boolean): string =>
  `${continued ? "This is the panorama of the earlier call, charged once. " : ""}` +
  `Task ${task.id} was accepted: a ${resolution} panorama for ${task.credits_charged} credits. ` +
  `Next: call get_panorama_task with id "${task.id}" every few seconds (or with wait_seconds) until it is done.`;
