import * as z from "zod";
import { STORAGE_STATUSES } from "../../domain/images/storage-status.js";
import { PUBLIC_REASONS, TASK_STATUSES } from "../../domain/tasks/public-reason.js";

/* Of the answers of the service, the members of release 0.1.0 of the tools. Others are removed. */
const id = z.string().min(1);
const creditsCharged = z.int().min(0);

/** The picture of a task that has succeeded. */
export const toolOutputSchema = z.object({
  image_url: z.string(),
  slug: z.string(),
  /** Absent if the installation has no viewer. */
  viewer_url: z.string().optional(),
  storage_status: z.enum(STORAGE_STATUSES),
});

/** Reason of a failed task, and the parameter at fault. Omits a reason that this version does not know. */
export const toolErrorSchema = z.object({
  code: z.literal("generation_failed"),
  message: z.string(),
  reason: z.enum(PUBLIC_REASONS).optional().catch(undefined),
  param: z.string().optional().catch(undefined),
});

/** The rest of a task in processing; absent where the service does not know it, or does not say it. */
const forecast = { queue_position: z.int().optional(), estimated_seconds: z.int().optional() };

/** `output` may be missing for a moment after the task has succeeded. */
export const toolTaskSchema = z.discriminatedUnion("status", [
  z.object({ id, status: z.literal("processing"), credits_charged: creditsCharged, ...forecast }),
  z.object({
    id,
    status: z.literal("succeeded"),
    credits_charged: creditsCharged,
    output: toolOutputSchema.optional(),
  }),
  z.object({ id, status: z.literal("failed"), credits_charged: creditsCharged, error: toolErrorSchema }),
]);

/** The answer to a creation. A replay may return a task that is already finished. */
export const createdTaskSchema = z.object({ id, status: z.enum(TASK_STATUSES), credits_charged: creditsCharged });
