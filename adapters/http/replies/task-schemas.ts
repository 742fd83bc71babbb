import * as z from "zod";
import { RESOLUTION_NAMES, resolutionsDescription } from "../../../domain/images/resolution.js";
import { STORAGE_STATUSES } from "../../../domain/images/storage-status.js";
import { PRICE_MAX } from "../../../domain/panorama-policy.js";
import { SEED_MAX } from "../../../domain/tasks/creation-request.js";
import {
  METADATA_KEY_CHARACTERS_MAX,
  METADATA_PAIRS_MAX,
  METADATA_VALUE_CHARACTERS_MAX,
} from "../../../domain/tasks/metadata.js";
import { PUBLIC_REASONS, TASK_STATUSES } from "../../../domain/tasks/public-reason.js";
import { AHEAD_MAX } from "../../../domain/tasks/queue.js";
import { VISIBILITIES, VISIBILITIES_DESCRIPTION } from "../../../domain/tasks/visibility.js";

/** `credits_charged` of a task: up to the highest price that an operator may set. Later prices do not change it. */
export const creditsChargedSchema = z.int().min(0).max(PRICE_MAX);

const nativePixels = z.int().min(1).meta({
  description: "Pixels of the generated image before it was resized.",
});

/** An installation with a viewer always sends `viewer_url`. */
export const panoramaOutputSchema = z
  .object({
    image_url: z.url().meta({
      format: "uri",
      description: "The equirectangular image. The URL is permanent once storage_status is saved or saved-no-thumb.",
    }),
    slug: z.string(),
    viewer_url: z.url().optional().meta({ format: "uri", description: "The interactive viewer." }),
    storage_status: z.enum(STORAGE_STATUSES).meta({
      description:
        "Poll while it is uploading. saved and saved-no-thumb: the image is stored, with or without its thumbnail. failed: it could not be stored, and its URL is temporary. expired: it is no longer there.",
    }),
    ai_generated: z.boolean().optional().meta({
      description:
        "True if a trained model made the picture, or may have made a part of it. Whoever publishes it may have to say so. False if rules alone drew it. Its files have the same mark, signed.",
    }),
    native_width: nativePixels.optional(),
    native_height: nativePixels.optional(),
    thumbnail_url: z.url().optional().meta({ format: "uri", description: "A small image, once it is stored." }),
  })
  .meta({ id: "PanoramaOutput" });

const REASONS_DESCRIPTION =
  "Why, for programs. canceled: its owner has canceled it. queue_timeout: it waited too long for its turn. " +
  "reference_unreachable: a reference image could not be read from its URL. reference_unusable: it was read, and the " +
  "image generator could not use it. content_refused: by the content rules of the image generator. provider_refused, " +
  "provider_failed: the image generator has not accepted the panorama, or failed to make it. provider_unavailable: it " +
  "did not answer, or does not work. provider_timeout: it did not finish in time. unusable_result: what it made is no usable panorama.";

/** Reason of a failed task. */
export const taskErrorSchema = z
  .object({
    code: z.literal("generation_failed"),
    message: z.string().meta({
      description: "Why, what to do next, and that the reserved credits were refunded. For people: it may change.",
    }),
    reason: z.enum(PUBLIC_REASONS).optional().meta({ description: REASONS_DESCRIPTION }),
    param: z
      .string()
      .optional()
      .meta({
        description: "The field of the creation at fault, if there is one and it is known.",
        examples: ["image_urls[1]", "image_urls", "prompt"],
      }),
  })
  .meta({ id: "TaskError" });

const time = (description: string) => z.iso.datetime().meta({ format: "date-time", description });

/** Creation parameters of a task, beyond the specification. Omitted if not given. */
export const creationFields = {
  created_at: time("RFC 3339, in UTC."),
  resolution: z.enum(RESOLUTION_NAMES).meta({ description: resolutionsDescription() }),
  visibility: z.enum(VISIBILITIES).meta({ description: VISIBILITIES_DESCRIPTION }),
  prompt: z.string().optional().meta({ description: "Without the white space around it." }),
  image_urls: z.array(z.string()).meta({ description: "Empty without reference images." }),
  seed: z.int().min(0).max(SEED_MAX).optional(),
  metadata: z
    .record(z.string().min(1).max(METADATA_KEY_CHARACTERS_MAX), z.string().max(METADATA_VALUE_CHARACTERS_MAX))
    .meta({ maxProperties: METADATA_PAIRS_MAX, description: "Empty if none was given. In no particular order." }),
};

/** JSON of a `PublicTask`, with the texts of its members (specification, Panorama task). */
export const panoramaTaskSchema = z
  .object({
    id: z.string(),
    status: z.enum(TASK_STATUSES),
    credits_charged: creditsChargedSchema.meta({ description: "Refunded if the status is failed." }),
    ...creationFields,
    hidden_reason: z.string().optional().meta({
      description:
        "Why others cannot see the panorama: the operator has hidden it, or looks at it first. Its owner sees it at viewer_url. If it is hidden, its image_url may answer 404.",
    }),
    queue_position: z
      .int()
      .min(0)
      .max(AHEAD_MAX)
      .optional()
      .meta({
        description: `How many tasks start before this one, as the queue is now; ${AHEAD_MAX} stands for more, too. Only in answers of GET /panoramas/{id}, while the task waits for a free place at the provider. Falls to 0, and may rise in between, because accounts take turns.`,
      }),
    estimated_seconds: z.int().min(1).optional().meta({
      description:
        "Roughly how many seconds the task still takes, if that is known. Only in answers of GET /panoramas/{id}, while the task is processing.",
    }),
    finished_at: time("When the task has succeeded or failed.").optional(),
    output: panoramaOutputSchema.optional(),
    error: taskErrorSchema.optional(),
  })
  .meta({ id: "PanoramaTask" });

/** Answer of a cancel with a key that may not read. */
export const canceledTaskSchema = panoramaTaskSchema
  .pick({ id: true, status: true, credits_charged: true, error: true })
  .meta({ id: "CanceledTask" });
