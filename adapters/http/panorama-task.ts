import { z } from "zod";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import { viewerPath } from "../../domain/slug.js";
import { isKept, STORAGE_STATUSES, type StoredImage } from "../../domain/storage-status.js";
import { type SucceededTask, statusOf, type Task } from "../../domain/task.js";
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
  })
  .meta({ id: "PanoramaOutput" });

const taskErrorSchema = z
  .object({
    code: z.literal("generation_failed"),
    message: z.string().meta({ description: "Says that the reserved credits were refunded." }),
  })
  .meta({ id: "TaskError" });

/** Specification, Panorama task. */
export const panoramaTaskSchema = z
  .object({
    id: z.string(),
    status: z.enum(["processing", "succeeded", "failed"]),
    credits_charged: creditsChargedSchema.meta({ description: "Refunded if the status is failed." }),
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
  const core = { id: task.id, status: statusOf(task), credits_charged: task.reservation.credits };
  switch (task.state) {
    case "queued":
    case "reserved":
    case "submitted":
    case "generated":
      return core;
    case "succeeded":
      return { ...core, output: output(task, urls) };
    case "failed":
      return { ...core, error: { code: "generation_failed", message: refunded(core.credits_charged) } };
  }
};

const output = ({ slug, image, request, nativeSize }: SucceededTask, { storage, publicUrl }: TaskUrls) => ({
  image_url: imageUrl(image, storage),
  slug,
  viewer_url: publicUrl + viewerPath(slug, request.visibility),
  storage_status: image.status,
  native_width: nativeSize?.widthPixels,
  native_height: nativeSize?.heightPixels,
});

/** The permanent URL of a saved image, else the temporary URL (specification, `output.storage_status`). */
export const imageUrl = (image: StoredImage, storage: Pick<ObjectStorage, "urlOf">): string =>
  isKept(image) ? storage.urlOf(image.imageName) : image.temporaryUrl;

const refunded = (credits: number): string =>
  `The panorama could not be generated. The ${credits} reserved credits were refunded.`;
