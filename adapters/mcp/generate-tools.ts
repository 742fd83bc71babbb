import { err, type Result } from "neverthrow";
import * as z from "zod";
import { RESOLUTION_NAMES, RESOLUTIONS } from "../../domain/images/resolution.js";
import { type Abilities, admitAbilities, IMAGE_URLS_MAX } from "../../domain/tasks/abilities.js";
import { canonicalText } from "../../domain/tasks/canonical-text.js";
import {
  type CreationRequest,
  IMAGE_URL_CHARACTERS_MAX,
  PROMPT_CHARACTERS_MIN,
  parseCreationRequest,
} from "../../domain/tasks/creation-request.js";
import { VISIBILITIES } from "../../domain/tasks/visibility.js";
import { creationInput } from "../client/creation-input.js";
import { abilitiesOf, type Offer } from "../client/offer.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { resultOf } from "../client/panorama-error.js";
import { pixelSize, pricesSentence } from "../wording/numbers.js";
import { countedImages, imagesRange, imagesSentence } from "../wording/sentences.js";
import { CALL_MILLISECONDS, type Tool, type ToolAnswer, type ToolCall, tool } from "./tool.js";
import { budgetExceeded, refusedArguments, type ToolError, toolErrorOf } from "./tool-error.js";
import { createdTaskSchema, toolOutputSchema } from "./tool-task-schemas.js";
import type { UnconfirmedCreations } from "./unconfirmed-creations.js";

function resolutionOf({ prices }: Offer) {
  const sizes = RESOLUTION_NAMES.map(
    (name) => `${name} = ${pixelSize(RESOLUTIONS[name])} pixels, ${prices[name]} credits`,
  );
  return z.enum(RESOLUTION_NAMES).describe(`Size and price: ${sizes.join("; ")}. Use 1k for a first try.`);
}
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

const created = createdTaskSchema.extend({
  id: createdTaskSchema.shape.id.describe("The id of the task, for get_panorama_task."),
  credits_charged: createdTaskSchema.shape.credits_charged.describe(
    "Credits reserved now. They are refunded automatically if the generation fails.",
  ),
  output: toolOutputSchema.optional().describe("The links, once the panorama is finished."),
});

const nextStep = ({ active_tasks }: Offer): string =>
  "Returns a task id immediately; the generation itself takes about 30 to 60 seconds, or estimated_seconds if that is known. Then call get_panorama_task with " +
  "that id every few seconds, or with wait_seconds, until the task has succeeded or failed. Do not call this tool again " +
  "to check the progress: that would create and charge another panorama. " +
  `An account can have at most ${active_tasks} tasks in processing at the same time.`;

const fromText = (abilities: Abilities, costs: string): string =>
  abilities.imagesMin > 0
    ? `Cannot be used here. ${imagesSentence(abilities)} Call generate_panorama_from_images instead.`
    : `Creates a 360° equirectangular panorama from a text description. ${costs}`;

const fromImages = (abilities: Abilities, costs: string): string =>
  abilities.imagesMax === 0
    ? `Cannot be used here. ${imagesSentence(abilities)} Call generate_panorama_from_text instead.`
    : `Creates a 360° equirectangular panorama from ${countedImages(countsOf(abilities))}, with an optional description. ${CHANGES} ${costs}`;

const CHANGES =
  "The image_url of a finished panorama may be passed alone, http too, to change it: say in the prompt what is different.";

/** Numbers of images for the schema of the tool. Without images, the specification's: a list of none is no schema. */
const countsOf = ({ imagesMin, imagesMax }: Abilities): Pick<Abilities, "imagesMin" | "imagesMax"> => ({
  imagesMin: Math.max(1, imagesMin),
  imagesMax: imagesMax === 0 ? IMAGE_URLS_MAX : imagesMax,
});

/** Each call creates another panorama and spends credits. It destroys nothing. */
const annotations = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true };

type Dependencies = {
  readonly offer: Offer;
  readonly client: PanoramaClient;
  readonly site: string;
  readonly unconfirmed: UnconfirmedCreations;
};

/**
 * The two tools that spend credits. Both are always there, as the specification says; one that the service cannot serve
 * says so. The service decides about each call, because its abilities may have changed since the start.
 */
export function generateTools(dependencies: Dependencies): readonly Tool[] {
  const create = creations(dependencies);
  const { offer } = dependencies;
  const resolution = resolutionOf(offer);
  const abilities = abilitiesOf(offer.abilities);
  const { promptCharactersMax } = abilities;
  const counts = countsOf(abilities);
  const costs = `Costs ${pricesSentence(offer.prices)}. ${nextStep(offer)}`;
  return [
    tool({
      name: "generate_panorama_from_text",
      title: "Generate a panorama from text",
      description: fromText(abilities, costs),
      annotations,
      input: z.strictObject({
        prompt: z
          .string()
          .meta({ minLength: PROMPT_CHARACTERS_MIN, maxLength: promptCharactersMax })
          .describe(
            `What the panorama shows: place, light, mood, style. ${PROMPT_CHARACTERS_MIN} to ${promptCharactersMax} characters.`,
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
      description: fromImages(abilities, costs),
      annotations,
      input: z.strictObject({
        image_urls: z
          .array(z.string().meta({ pattern: "^https?://", maxLength: IMAGE_URL_CHARACTERS_MAX }))
          .min(1, `must have ${imagesRange(counts)} ${counts.imagesMax === 1 ? "item" : "items"}, but has none.`)
          .meta({ minItems: counts.imagesMin, maxItems: counts.imagesMax })
          .describe(
            `${imagesRange(counts)} public https:// ${counts.imagesMax === 1 ? "URL" : "URLs"} of images, or the image_url of a finished panorama, http:// too. ` +
              "For an image without such a URL (a local file, an image from the chat), call upload_reference_images " +
              "first and use the URLs that it returns. data: URLs are not accepted.",
          ),
        prompt: z
          .string()
          .meta({ maxLength: promptCharactersMax })
          .optional()
          .describe(`How to turn the images into a panorama. Optional, at most ${promptCharactersMax} characters.`),
        resolution,
        visibility,
        max_credits,
      }),
      output: created,
      run: create,
    }),
  ];
}

type CreationArguments = { readonly max_credits?: number | undefined; readonly [field: string]: unknown };

function creations({ offer, client, site, unconfirmed }: Dependencies) {
  return async (
    { max_credits: maxCredits, ...fields }: CreationArguments,
    { signal }: ToolCall,
  ): Promise<Result<ToolAnswer<z.infer<typeof created>>, ToolError>> => {
    const request = parseCreationRequest(fields);
    if (request.isErr()) return err(refusedArguments(request.error));
    // `max_credits` is a part of what the service compares for a key.
    const creation = unconfirmed.begin(canonicalText(request.value, maxCredits));
    const { idempotencyKey, continued } = creation;
    // A continued creation may have been accepted before prices or abilities changed: the service decides.
    const refusal = continued ? undefined : whyImpossible(request.value, maxCredits, offer);
    if (refusal !== undefined) {
      unconfirmed.settle(creation);
      return err(refusal);
    }
    // The price may have changed since it was read: the service compares it again.
    const input = creationInput(request.value, maxCredits);
    const task = await resultOf(client.create(input, { idempotencyKey, signal, timeout: CALL_MILLISECONDS }));
    if (task.isErr() && (task.error.mayHaveBeenAccepted || (continued && isUndecided(task.error.code)))) {
      unconfirmed.leaveInDoubt(creation);
    } else {
      unconfirmed.settle(creation);
    }
    return task
      .map((accepted) => ({
        structured: accepted,
        message: messageOf(accepted, request.value, continued),
      }))
      .mapErr((error) => (error.param === "max_credits" ? budgetExceeded(error.message) : toolErrorOf(error, site)));
  };
}

/** Reason why the service would refuse the creation, by its abilities and prices. */
function whyImpossible(
  request: CreationRequest,
  maxCredits: number | undefined,
  { abilities, prices }: Offer,
): ToolError | undefined {
  const possible = admitAbilities(abilitiesOf(abilities), request);
  if (possible.isErr()) return refusedArguments(possible.error);
  const cost = prices[request.resolution];
  if (maxCredits === undefined || cost <= maxCredits) return undefined;
  const affordable = RESOLUTION_NAMES.filter((name) => prices[name] <= maxCredits).at(-1);
  const message = `This panorama costs ${cost} credits, which is more than max_credits (${maxCredits}).`;
  return budgetExceeded(message, affordable);
}

/**
 * Returns `false` only for errors that tell the outcome of the earlier attempt with the same key: it was not accepted,
 * or its panorama was deleted (`invalid_request`).
 */
const isUndecided = (code: ToolError["code"]): boolean =>
  !["invalid_request", "insufficient_credits", "too_many_active_tasks", "upstream_error"].includes(code);

const messageOf = (task: z.infer<typeof created>, { resolution }: CreationRequest, continued: boolean): string =>
  `${continued ? "This is the task of the earlier call, charged once. " : ""}` +
  `Task ${task.id} was accepted: a ${resolution} panorama for ${task.credits_charged} credits. ` +
  `Next: call get_panorama_task with id "${task.id}" every few seconds (or with wait_seconds) until the task has succeeded or failed.`;
