import { z } from "zod";
import { type AccountEvent, EVENT_TYPES } from "../../../domain/tasks/account-event.js";
import type { Task } from "../../../domain/tasks/task.js";
import { panoramaTask, panoramaTaskSchema, type TaskUrls } from "../replies/panorama-task.js";
import { creditsResponseSchema } from "./read-credits-route.js";

const timestamp = z.iso.datetime().meta({ format: "date-time", description: "When it happened." });

const balance = z.object({ remaining_credits: creditsResponseSchema.shape.remaining_credits });

/** The body of a webhook. */
export const eventSchema = z
  .union([
    z.object({ type: z.enum(EVENT_TYPES).exclude(["credits.low"]), timestamp, data: panoramaTaskSchema }),
    z.object({ type: z.literal("credits.low"), timestamp, data: balance }),
  ])
  .meta({ id: "Event", description: "What happened, with the task as GET /panoramas/{id} shows it now." });

/**
 * Writes the body of an event as JSON, when it is sent. `task` is that of an event about a task. A copy in the
 * transaction that writes the event would need the URLs of this interface, and repeat every prompt.
 */
export const eventBody = (event: AccountEvent, task: Task | undefined, urls: TaskUrls): string => {
  const { type, at } = event;
  const timestamp = at.toISOString();
  if (type === "credits.low") {
    return JSON.stringify({ type, timestamp, data: { remaining_credits: event.remainingCredits } });
  }
  if (task === undefined) throw new Error(`the task of event ${event.number} of account ${event.accountId} is missing`);
  return JSON.stringify({ type, timestamp, data: panoramaTask(task, urls) });
};
