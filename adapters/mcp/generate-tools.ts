import { err, type Result } from "neverthrow";
import { z } from "zod";
import { canonicalText } from "../../domain/canonical-text.js";
import {
  type CreationRequest,
  IMAGE_URL_CHARACTERS_MAX,
  IMAGE_URLS_MAX,
  PROMPT_CHARACTERS_MAX,
  PROMPT_CHARACTERS_MIN,
  parseCreationRequest,
} from "../../domain/creation-request.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { RESOLUTION_NAMES, RESOLUTIONS } from "../../domain/resolution.js";
import { VISIBILITIES } from "../../domain/visibility.js";
import { createdTaskSchema } from "../client/answers.js";
import type { Offer } from "../client/offer.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { parameterName } from "../wording/parameter-name.js";
import { pixelSize } from "../wording/pixel-size.js";
import { pricesSentence } from "../wording/prices.js";
import { rulePredicate } from "../wording/rule-predicate.js";
import { type Tool, type ToolAnswer, type ToolCall, tool } from "./tool.js";
import { budgetExceeded, invalidArguments, type ToolError, toolErrorOf } from "./tool-error.js";
import type { UnconfirmedCreations } from "./unconfirmed-creations.js";

const resolutionOf = ({ prices }: Offer) => {
  const sizes = RESOLUTION_NAMES.map(
    (name) => `${name} = ${pixelSize(RESOLUTIONS[name])} pixels, ${prices[name]} credits`,
  );
  return z.enum(RESOLUTION_NAMES).describe(`Size and price: ${sizes.join("; ")}. Use 1k for a first try.`);
};
const visibility = z
  .enum(VISIBILITIES)
  .default("private")
  .describe(
    "private (default): only the owner of the account can open the viewer, after login. " +
      "public: everybody can see the panorama, and the public gallery shows it. Use public only if the person asks for it.",
  );
const max_credits = z
  .int()
  .min(0)
  .optional()
  .describe(
    "The maximum price of this one panorama. If the resolution costs more, the tool answers budget_exceeded, and " +
      "nothing is created or charged. This does not limit the total spending of the account.",
  );

/** The members of release 0.1.0 of the tools: the REST interface may have more. */
const created = createdTaskSchema.pick({ id: true, status: true, credits_charged: true }).extend({
  id: createdTaskSchema.shape.id.describe("The id of the task, for get_panorama_task."),
  credits_charged: createdTaskSchema.shape.credits_charged.describe(
    "Credits reserved now. They are refunded automatically if the generation fails.",
  ),
});

const nextStep = ({ active_tasks }: Offer): string =>
  "Returns a task id immediately; the generation itself takes about 30 to 60 seconds. Then call get_panorama_task with " +
  "that id every few seconds, or with wait_seconds, until the task has succeeded or failed. Do not call this tool again " +
  "to check the progress: that would create and charge another panorama. " +
  `An account can have at most ${active_tasks} tasks in processing at the same time.`;

/** Each call creates another panorama and spends credits. It destroys nothing. */
const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true };

type Dependencies = {
  readonly offer: Offer;
  readonly client: PanoramaClient;
  readonly site: string;
  readonly unconfirmed: UnconfirmedCreations;
};

/** The two tools that spend credits. */
export const generateTools = (dependencies: Dependencies): readonly Tool[] => {
  const create = creations(dependencies);
  const { offer } = dependencies;
  const resolution = resolutionOf(offer);
  const costs = `Costs ${pricesSentence(offer.prices)}. ${nextStep(offer)}`;
  return [
    tool({
      name: "generate_panorama_from_text",
      title: "Generate a panorama from text",
      description: `Creates a 360° equirectangular panorama from a text description. ${costs}`,
      annotations,
      input: z.strictObject({
        prompt: z
          .string()
          .meta({ minLength: PROMPT_CHARACTERS_MIN, maxLength: PROMPT_CHARACTERS_MAX })
          .describe(
            `What the panorama shows: place, light, mood, style. ${PROMPT_CHARACTERS_MIN} to ${PROMPT_CHARACTERS_MAX} characters.`,
          ),
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
        `Creates a 360° equirectangular panorama from 1 to ${IMAGE_URLS_MAX} reference images, with an optional ` +
        `description. ${costs}`,
      annotations,
      input: z.strictObject({
        image_urls: z
          .array(z.string().meta({ pattern: "^https://", maxLength: IMAGE_URL_CHARACTERS_MAX }))
          .min(1, `must have 1 to ${IMAGE_URLS_MAX} items, but has none.`)
          .meta({ maxItems: IMAGE_URLS_MAX })
          .describe(
            `1 to ${IMAGE_URLS_MAX} public https:// URLs of images. For an image without such a URL (a local file, an ` +
              "image from the chat), call upload_reference_images first and use the URLs that it returns. " +
              "data: URLs are not accepted.",
          ),
        prompt: z
          .string()
          .meta({ maxLength: PROMPT_CHARACTERS_MAX })
          .optional()
          .describe(`How to turn the images into a panorama. Optional, at most ${PROMPT_CHARACTERS_MAX} characters.`),
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

const creations =
  ({ offer, client, site, unconfirmed }: Dependencies) =>
  async (
    { max_credits: maxCredits, ...fields }: CreationArguments,
    { signal }: ToolCall,
  ): Promise<Result<ToolAnswer<z.infer<typeof created>>, ToolError>> => {
    const request = parseCreationRequest(fields);
    if (request.isErr()) return err(invalidArguments(argumentMessage(request.error)));
    const cost = offer.prices[request.value.resolution];
    if (maxCredits !== undefined && cost > maxCredits) return err(budgetExceeded(cost, maxCredits));

    const creation = unconfirmed.begin(canonicalText(request.value));
    const { idempotencyKey, continued } = creation;
    const task = await client.create(request.value, { idempotencyKey, signal });
    if (task.isErr() && (task.error.mayHaveBeenAccepted || (continued && isUndecided(task.error.code)))) {
      unconfirmed.leaveInDoubt(creation);
    } else {
      unconfirmed.settle(creation);
    }
    return task
      .map((accepted) => ({ structured: accepted, text: textOf(accepted, request.value, continued) }))
      .mapErr((error) => toolErrorOf(error, site));
  };

const argumentMessage = (refusal: InvalidRequest): string =>
  `${parameterName(refusal) ?? "arguments"}: ${rulePredicate(refusal.rule)}`;

/**
 * Returns `false` only for errors that say what became of the earlier attempt with the same key: it was not accepted, or,
 * with `not_found`, its panorama was deleted.
 */
const isUndecided = (code: ToolError["code"]): boolean =>
  !["invalid_request", "insufficient_credits", "not_found", "too_many_active_tasks", "upstream_error"].includes(code);

const textOf = (task: z.infer<typeof created>, { resolution }: CreationRequest, continued: boolean): string =>
  `${continued ? "This is the task of the earlier call, charged once. " : ""}` +
  `Task ${task.id} was accepted: a ${resolution} panorama for ${task.credits_charged} credits. ` +
  `Next: call get_panorama_task with id "${task.id}" every few seconds (or with wait_seconds) until the task has succeeded or failed.`;
