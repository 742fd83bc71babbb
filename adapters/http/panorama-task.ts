import { z } from "zod";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { CreationRequest } from "../../domain/creation-request.js";
import {
  METADATA_KEY_CHARACTERS_MAX,
  METADATA_PAIRS_MAX,
  METADATA_VALUE_CHARACTERS_MAX,
} from "../../domain/metadata.js";
import { thumbnailNameOf } from "../../domain/object-name.js";
import { RESOLUTION_NAMES, resolutionsDescription } from "../../domain/resolution.js";
import { SEED_MAX } from "../../domain/seed.js";
import { viewerPath } from "../../domain/slug.js";
import { isKept, STORAGE_STATUSES, type StoredImage } from "../../domain/storage-status.js";
import { type FailedTask, type SucceededTask, statusOf, type Task } from "../../domain/task.js";
import { VISIBILITIES, VISIBILITIES_DESCRIPTION } from "../../domain/visibility.js";
import { creditsChargedSchema } from "./credits-charged.js";

const nativePixels = z.int().min(1).meta({
  description: "Pixels of the generated image before it was resized. Absent for older tasks.",
});

const panoramaOutputSchema = z
  .object({
    image_url: z.url().meta({
      format: "uri",
      description: "The equirectangular image. The URL is temporary until storage_status is saved.",
    }),
    slug: z.string(),
    viewer_url: z.url().meta({ format: "uri", description: "The interactive viewer." }),
    storage_status: z.enum(STORAGE_STATUSES),
    native_width: nativePixels.optional(),
    native_height: nativePixels.optional(),
    thumbnail_url: z.url().optional().meta({ format: "uri", description: "A small image, once it is stored." }),
  })
  .meta({ id: "PanoramaOutput" });

const taskErrorSchema = z
  .object({
    code: z.literal("generation_failed"),
    message: z.string().meta({ description: "Says that the reserved credits were refunded." }),
  })
  .meta({ id: "TaskError" });

const time = (description: string) => z.iso.datetime().meta({ format: "date-time", description });

/** What a task was created with, beyond the specification. Members that were not given are omitted. */
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

/** Specification, Panorama task. */
export const panoramaTaskSchema = z
  .object({
    id: z.string(),
    status: z.enum(["processing", "succeeded", "failed"]),
    credits_charged: creditsChargedSchema.meta({ description: "Refunded if the status is failed." }),
    ...creationFields,
    finished_at: time("When the task has succeeded or failed.").optional(),
    output: panoramaOutputSchema.optional(),
    error: taskErrorSchema.optional(),
  })
  .meta({ id: "PanoramaTask" });

/** Makes the URLs of images and viewers. */
export type TaskUrls = {
  readonly storage: Pick<ObjectStorage, "urlOf">;
  /** Origin of the viewer links, without a trailing slash. */
  readonly publicUrl: string;
};

/** A task as the REST interface shows it. */
export const panoramaTask = (task: Task, urls: TaskUrls): z.infer<typeof panoramaTaskSchema> => {
  const core = {
    id: task.id,
    status: statusOf(task),
    credits_charged: task.reservation.credits,
    ...shownCreation(task.request, task.reservedAt),
  };
  switch (task.state) {
    case "queued":
    case "reserved":
    case "submitted":
    case "generated":
      return core;
    case "succeeded":
      return { ...core, finished_at: task.succeededAt.toISOString(), output: output(task, urls) };
    case "failed":
      return {
        ...core,
        finished_at: task.failedAt.toISOString(),
        error: { code: "generation_failed", message: refunded(task) },
      };
  }
};

/** The members of `creationFields`. JSON leaves out those that are `undefined`. */
export const shownCreation = (request: CreationRequest, createdAt: Date) => {
  const { resolution, visibility, prompt, imageUrls, seed, metadata } = request;
  return {
    created_at: createdAt.toISOString(),
    resolution,
    visibility,
    prompt,
    image_urls: [...imageUrls],
    seed,
    metadata,
  };
};

const output = ({ slug, image, request, nativeSize }: SucceededTask, { storage, publicUrl }: TaskUrls) => ({
  image_url: imageUrl(image, storage),
  slug,
  viewer_url: publicUrl + viewerPath(slug, request.visibility),
  storage_status: image.status,
  native_width: nativeSize?.widthPixels,
  native_height: nativeSize?.heightPixels,
  ...(image.status === "saved" && { thumbnail_url: storage.urlOf(thumbnailNameOf(image.imageName)) }),
});

/** The permanent URL of a saved image, else the temporary URL (specification, `output.storage_status`). */
export const imageUrl = (image: StoredImage, storage: Pick<ObjectStorage, "urlOf">): string =>
  isKept(image) ? storage.urlOf(image.imageName) : image.temporaryUrl;

const refunded = ({ reason, reservation: { credits } }: FailedTask): string =>
  `The panorama ${reason === "canceled" ? "was canceled" : "could not be generated"}. The ${credits} reserved credits were refunded.`;
