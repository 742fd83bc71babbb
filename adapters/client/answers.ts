import * as z from "zod";
import { RESOLUTION_NAMES } from "../../domain/images/resolution.js";
import { STORAGE_STATUSES } from "../../domain/images/storage-status.js";
import { TOLD_REASONS } from "../../domain/tasks/told-reason.js";
import { VISIBILITIES } from "../../domain/tasks/visibility.js";

/** The answers of the service as on the wire (specification, Resources). Unknown fields are removed. */
const id = z.string().min(1);
const creditsCharged = z.int().min(0);

/** The statuses of a task. */
export const TASK_STATUSES = ["processing", "succeeded", "failed"] as const;

/** The picture of a task that has succeeded. */
export const panoramaOutputSchema = z.object({
  image_url: z.string(),
  slug: z.string(),
  /** Absent if the installation has no viewer. */
  viewer_url: z.string().optional(),
  storage_status: z.enum(STORAGE_STATUSES),
  /** Whether it was generated, and not photographed. Older services do not say it. */
  ai_generated: z.boolean().optional(),
  /** Pixels of the generated image before it was resized. Absent for older tasks, and from older services. */
  native_width: z.int().optional(),
  native_height: z.int().optional(),
  thumbnail_url: z.string().optional(),
});

/**
 * Why a task has failed, and the parameter at fault. Older versions of the service tell no reason, and one that this
 * version does not know is left out.
 */
export const taskErrorSchema = z.object({
  code: z.literal("generation_failed"),
  message: z.string(),
  reason: z.enum(TOLD_REASONS).optional().catch(undefined),
  param: z.string().optional().catch(undefined),
});

/** What the task was created with. Older versions of the service do not say it. Times are RFC 3339, in UTC. */
const creation = {
  created_at: z.string().optional(),
  resolution: z.enum(RESOLUTION_NAMES).optional(),
  visibility: z.enum(VISIBILITIES).optional(),
  prompt: z.string().optional(),
  image_urls: z.array(z.string()).optional(),
  seed: z.int().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
};
const finished = { ...creation, finished_at: z.string().optional() };

/** The rest of a task in processing; absent where the service does not know it, or does not say it. */
const forecast = { queue_position: z.int().optional(), estimated_seconds: z.int().optional() };

/** `output` may be missing for a moment after the task has succeeded. */
export const panoramaTaskSchema = z.discriminatedUnion("status", [
  z.object({ id, status: z.literal("processing"), credits_charged: creditsCharged, ...creation, ...forecast }),
  z.object({
    id,
    status: z.literal("succeeded"),
    credits_charged: creditsCharged,
    ...finished,
    output: panoramaOutputSchema.optional(),
  }),
  z.object({ id, status: z.literal("failed"), credits_charged: creditsCharged, ...finished, error: taskErrorSchema }),
]);

/** The answer to a creation. A replay may return a task that is already finished. */
export const createdTaskSchema = z.object({
  id,
  status: z.enum(TASK_STATUSES),
  credits_charged: creditsCharged,
  ...creation,
});
