import * as z from "zod";
import type { ZodOpenApiOperationObject } from "zod-openapi";
import { KEY_CHARACTERS_MAX } from "../../../domain/credits/idempotency.js";
import { IMAGE_PIXELS_MAX, IMAGE_TYPES, PROGRESSIVE_PIXELS_MAX } from "../../../domain/images/image-type.js";
import { RESOLUTION_NAMES, resolutionsDescription } from "../../../domain/images/resolution.js";
import { IDEMPOTENCY_KEPT_MILLISECONDS, type PanoramaPolicy } from "../../../domain/panorama-policy.js";
import type { Abilities } from "../../../domain/tasks/abilities.js";
import { creationRequestSchema, PROMPT_CHARACTERS_MIN } from "../../../domain/tasks/creation-request.js";
import { VISIBILITIES_DESCRIPTION } from "../../../domain/tasks/visibility.js";
import { hours, mebibytes } from "../../wording/numbers.js";
import { countedImages, imagesSentence, promptSentence } from "../../wording/sentences.js";
import { OPEN_WAITS_MAX } from "../limits/open-requests.js";
import { canceledTaskSchema, panoramaTaskSchema } from "../replies/task-schemas.js";
import { WAIT_SECONDS_MAX } from "../requests/request-headers.js";
import { filterParameters } from "../requests/task-filter-query.js";
import { creationResponseSchema } from "../routes/create-panorama-route.js";
import { creditsResponseSchema, entriesQuerySchema, entryPageSchema } from "../routes/credits-routes.js";
import { pageQuerySchema, taskPageSchema } from "../routes/list-panoramas-route.js";
import { abilitiesResponseSchema } from "../routes/panorama-routes.js";
import { uploadResponseSchema } from "../routes/upload-images-route.js";
import { type DescribedAnswers, errorSchema, requestId } from "./openapi-answers.js";
import type { openApiExamples } from "./openapi-examples.js";

/** Texts of the description about the input of a creation. */
type CreationWords = {
  /** Follows "panoramas". */
  readonly from: string;
  /** A sentence: what a request needs. */
  readonly needs: string;
  /** Sentences: which fields a request has. */
  readonly has: string;
};

/** The words for an installation with these abilities. */
export const creationWords = (abilities: Abilities): CreationWords => {
  const { imagesMin, imagesMax, promptCharactersMax } = abilities;
  if (imagesMax === 0) {
    return {
      from: "from a text prompt",
      needs: `Needs a prompt of ${PROMPT_CHARACTERS_MIN} to ${promptCharactersMax} characters.`,
      has: `Has a prompt of at least ${PROMPT_CHARACTERS_MIN} characters. image_urls is refused unless it is empty.`,
    };
  }
  if (imagesMin > 0) {
    return {
      from: `from ${countedImages(abilities)}, with or without a text prompt`,
      needs: `Needs image_urls, with or without a prompt of at most ${promptCharactersMax} characters.`,
      has: "Has image_urls, with or without a prompt.",
    };
  }
  return {
    from: `from a text prompt, from up to ${countedImages(abilities)}, or from both`,
    needs: `Needs a prompt of ${PROMPT_CHARACTERS_MIN} to ${promptCharactersMax} characters, image_urls, or both.`,
    has: `Has a prompt, image_urls with at least one URL, or both. Without image_urls the prompt has at least ${PROMPT_CHARACTERS_MIN} characters.`,
  };
};

/** Parts that the operations of one description share. */
export type Described = {
  readonly policy: PanoramaPolicy;
  readonly abilities: Abilities;
  readonly unusedHours: number | undefined;
  readonly examples: ReturnType<typeof openApiExamples>;
  readonly answers: DescribedAnswers;
};

/**
 * States in words what zod checks in code: a prompt, image URLs, or both. `anyOf` would state it too, but generated
 * clients get a model for each of its parts, and none for the request.
 */
const creationRequest = ({ policy: { prices }, abilities }: Described) => {
  const { imagesMin, imagesMax, promptCharactersMax } = abilities;
  const { prompt, image_urls, visibility } = creationRequestSchema.shape;
  return creationRequestSchema
    .safeExtend({
      resolution: z.enum(RESOLUTION_NAMES).meta({ description: resolutionsDescription(prices) }),
      prompt: prompt
        .unwrap()
        .meta({ maxLength: promptCharactersMax, description: promptSentence(abilities) })
        .optional(),
      image_urls: image_urls
        .unwrap()
        .meta({
          ...(imagesMin > 0 && { minItems: imagesMin }),
          maxItems: imagesMax,
          description: `${imagesSentence(abilities)}${imagesMax > 0 ? ` ${EACH_IMAGE}` : ""}`,
        })
        .optional(),
      // In words: openapi-typescript makes a member of a component required if it has a `default`.
      visibility: visibility.meta({
        default: undefined,
        description: `${VISIBILITIES_DESCRIPTION} Default: ${visibility.def.defaultValue}.`,
      }),
    })
    .meta({
      id: "CreationRequest",
      description: `${creationWords(abilities).has} White space around a prompt does not count, and one of invisible characters is empty. For an optional field, null is the same as leaving it out. An unknown field is ignored, but gives 400 if its name is nearly that of a field: in another case or number, with other punctuation, or as imageUrl for image_urls.`,
    });
};

const EACH_IMAGE =
  "Each is an https URL at a public address, an uploaded image of this service, or the image_url of a finished panorama, your own or a public one, also if it begins with http://. To change a panorama, send its image_url alone and say in the prompt what is different. One at another host is a JPEG, PNG or WebP, and should have at most 10 MiB: every image generator takes that.";

export const taskPath = ({ examples }: Described) =>
  z.object({
    id: z.string().meta({ description: "The id from the answer to the creation.", example: examples.task.id }),
  });

export const createPanorama = (described: Described): ZodOpenApiOperationObject => {
  const { policy, abilities, examples, answers } = described;
  return {
    operationId: "createPanorama",
    tags: ["Panoramas"],
    summary: "Create a panorama",
    description: `Reserves the credits and starts the generation, which takes about 30 to 60 seconds; estimated_seconds of the task is what the service measures. ${creationWords(abilities).needs}`,
    requestParams: {
      header: z.object({
        "Idempotency-Key": z
          .string()
          .min(1)
          .max(KEY_CHARACTERS_MAX + 2)
          .optional()
          .meta({
            description: `Your own id for this creation: 1 to ${KEY_CHARACTERS_MAX} visible ASCII characters, or as many between quotes, valid for ${IDEMPOTENCY_KEPT_MILLISECONDS / 3_600_000} hours. A repeat with the same key and body returns the same task and charges nothing, or gives 400 if its panorama was deleted: use a new key then.`,
          }),
      }),
    },
    requestBody: {
      required: true,
      content: { "application/json": { schema: creationRequest(described), example: examples.creation } },
    },
    responses: {
      202: answers.success("The task is processing.", creationResponseSchema, examples.created, {
        Location: z.string().meta({ description: "The path of the task." }),
        "Idempotent-Replayed": z.literal("true").optional().meta({
          description: "Sent only if an earlier request with the same Idempotency-Key created this task.",
        }),
      }),
      ...answers.refusals(400, 401, 402, 500, 502),
      429: answers.response({
        ...answers.failures[429],
        schema: errorSchema("RateLimitedOrTooManyActiveTasks", ["rate_limited", "too_many_active_tasks"]),
        description: `Too many requests within a minute, or the service is overloaded (with retry-after), or already ${policy.activeMax} tasks in processing (without).`,
      }),
    },
  };
};

export const listPanoramas = ({ examples, answers }: Described): ZodOpenApiOperationObject => ({
  operationId: "listPanoramas",
  tags: ["Panoramas"],
  summary: "List the account's tasks, newest first",
  description:
    "Every filter narrows the list. A cursor belongs to its filters: send them again with it. Filter by metadata with metadata.KEY=value, once for each pair that a task must have. An unknown parameter, one that is given twice, and a cursor that is not exactly a next_cursor of this list are refused.",
  requestParams: { query: pageQuerySchema.extend(filterParameters) },
  responses: {
    200: answers.success("One page.", taskPageSchema, examples.page),
    ...answers.refusals(400, 401, 429, 500),
  },
});

export const readPanorama = (described: Described): ZodOpenApiOperationObject => {
  const { examples, answers } = described;
  return {
    operationId: "readPanorama",
    tags: ["Panoramas"],
    summary: "Read a task",
    requestParams: {
      path: taskPath(described),
      header: z.object({
        Prefer: z
          .string()
          .optional()
          .meta({
            description: `wait=N: answer when the task leaves processing, or after N seconds. N is at most ${WAIT_SECONDS_MAX}. If the account already holds ${OPEN_WAITS_MAX} such requests, it is answered at once, without Preference-Applied.`,
            example: "wait=30",
          }),
      }),
    },
    responses: {
      200: answers.success("The task.", panoramaTaskSchema, examples.task, {
        "Preference-Applied": z.string().optional().meta({ description: "The wait that the service applied." }),
      }),
      ...answers.refusals(401, 404, 429, 500),
    },
  };
};

export const cancelPanorama = (described: Described): ZodOpenApiOperationObject => {
  const { examples, answers } = described;
  return {
    operationId: "cancelPanorama",
    tags: ["Panoramas"],
    summary: "Cancel a task",
    description:
      "Ends a task in processing as failed, with its refund, if it costs nothing yet: it waits for a free slot of the provider, or the provider stops it without a charge. Otherwise it goes on. The answer is the task as it is afterwards. Can be repeated. Needs a key with the scope create; without the scope read, the answer has only id, status, credits_charged and error.",
    requestParams: { path: taskPath(described) },
    responses: {
      200: answers.success(
        "The task, canceled or not.",
        z.union([panoramaTaskSchema, canceledTaskSchema]),
        examples.task,
      ),
      ...answers.refusals(401, 404, 429, 500),
    },
  };
};

export const deletePanorama = (described: Described): ZodOpenApiOperationObject => {
  const { answers } = described;
  return {
    operationId: "deletePanorama",
    tags: ["Panoramas"],
    summary: "Delete a panorama",
    description:
      "Deletes image and thumbnail of a finished panorama; its task is no longer found. The ledger keeps its entries. Can be repeated. A task in processing, or whose image is uploading, is refused with 400. Needs a key with the scope create.",
    requestParams: { path: taskPath(described) },
    responses: {
      204: {
        description: "The panorama is deleted.",
        headers: z.object({ ...answers.rateLimitHeaders.shape, "X-Request-Id": requestId }),
      },
      ...answers.refusals(400, 401, 404, 429, 500),
    },
  };
};

export const postImages = ({ policy, unusedHours, examples, answers }: Described): ZodOpenApiOperationObject => ({
  operationId: "uploadImages",
  tags: ["Images"],
  summary: "Upload reference images",
  description: `At most ${policy.uploads.filesMax} files, ${mebibytes(policy.uploads.fileBytesMax)} each and ${mebibytes(policy.uploads.totalBytesMax)} in total, in a request of at most ${mebibytes(policy.uploads.requestBytesMax)}. A JPEG, PNG or WebP may have up to ${IMAGE_PIXELS_MAX / 1e6} megapixels, a progressive JPEG, an interlaced or a damaged PNG ${PROGRESSIVE_PIXELS_MAX / 1e6}. Each part named files gives one URL, in their order; a part whose name is not clear is refused, and parts with quite other names are ignored. What browsers show is taken, also without its end or with a wrong checksum. A picture that cannot be decoded, or of which more than 5 % of the rows are missing, is refused with 400 and the index of its file. The URLs are public: place (GPS), time, camera, names, comments and all other metadata are taken out of the files before; pixels, colour profile and orientation stay. Equal pictures get the same URL, whatever their metadata say.${unusedHours === undefined ? "" : ` An image that no creation uses is deleted after ${hours(unusedHours)}.`}`,
  requestBody: {
    required: true,
    content: {
      "multipart/form-data": {
        schema: z.object({ files: z.array(z.file()).min(1).max(policy.uploads.filesMax) }),
        encoding: { files: { contentType: IMAGE_TYPES.join(", ") } },
      },
    },
  },
  responses: {
    200: answers.success("The URLs of the images.", uploadResponseSchema, examples.uploaded),
    ...answers.refusals(400, 401, 429, 500),
  },
});

export const readAbilities = ({ examples, answers }: Described): ZodOpenApiOperationObject => ({
  operationId: "readAbilities",
  tags: ["Panoramas"],
  summary: "Read what can be created",
  description:
    "What this installation takes now: what at least one of its models can make. A creation that none of them can make is refused with 400 and its param, and costs nothing.",
  responses: {
    200: answers.success("The capabilities.", abilitiesResponseSchema, examples.abilities),
    ...answers.refusals(401, 429, 500),
  },
});

export const readCredits = ({ examples, answers }: Described): ZodOpenApiOperationObject => ({
  operationId: "readCredits",
  tags: ["Credits"],
  summary: "Read the balance",
  description: "All credits that the account has bought are remaining, reserved or spent.",
  responses: {
    200: answers.success("The credits.", creditsResponseSchema, examples.totals),
    ...answers.refusals(401, 429, 500),
  },
});

export const listCreditEntries = ({ examples, answers }: Described): ZodOpenApiOperationObject => ({
  operationId: "listEntries",
  tags: ["Credits"],
  summary: "List what has changed the balance",
  description:
    "The ledger of the account, newest first: what was bought, reserved for panoramas, refunded and adjusted. Entries are only added, so a page stays as it is. An unknown parameter, one that is given twice, and a cursor that is not exactly a next_cursor of this list are refused.",
  requestParams: { query: entriesQuerySchema },
  responses: {
    200: answers.success("A page of entries.", entryPageSchema, examples.entries),
    ...answers.refusals(400, 401, 429, 500),
  },
});
