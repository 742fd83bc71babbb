import { err, ok } from "neverthrow";
import * as z from "zod";
import { TASK_STATUSES } from "../../domain/tasks/public-reason.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { resultOf } from "../client/panorama-error.js";
import type { PanoramaOutput, PanoramaTask } from "../client/resources.js";
import { forecastWords } from "../wording/sentences.js";
import { canBeTaskId } from "./task-resources.js";
import { CALL_MILLISECONDS, type Tool, tool } from "./tool.js";
import { afterFailure, toolErrorOf } from "./tool-error.js";
import { toolErrorSchema, toolOutputSchema, toolTaskSchema } from "./tool-task-schemas.js";

/** Even with the grace of the last read, well below 60 s: MCP clients abort a call after that. */
const WAIT_SECONDS_MAX = 30;

const input = z.strictObject({
  id: z
    .string()
    .min(1, "must not be empty.")
    .refine(canBeTaskId, "must be an id that a generate tool has returned.")
    .describe("The id of the task, as a generate tool returned it."),
  wait_seconds: z
    .int()
    .min(0)
    .max(WAIT_SECONDS_MAX)
    .default(0)
    .describe(`How many seconds (0 to ${WAIT_SECONDS_MAX}) to wait for the task to finish. 0: answer immediately.`),
});

const output = z.object({
  id: z.string(),
  status: z.enum(TASK_STATUSES),
  credits_charged: z.int().min(0),
  queue_position: z
    .int()
    .optional()
    .describe("While it waits in the queue of the service: how many tasks start before it."),
  estimated_seconds: z
    .int()
    .optional()
    .describe("While it is processing, if it is known: roughly how many seconds it still takes."),
  output: toolOutputSchema
    .extend({
      image_url: z
        .string()
        .describe("The equirectangular image. Permanent only if storage_status is saved or saved-no-thumb."),
      viewer_url: z
        .string()
        .optional()
        .describe("The interactive 360° viewer. Only the owner can open the viewer of a private panorama."),
    })
    .optional(),
  error: toolErrorSchema
    .extend({ what_to_do: z.string().optional().describe("What to do next, by the reason.") })
    .optional(),
});

type Dependencies = { readonly client: PanoramaClient; readonly site: string };

export const getPanoramaTask = ({ client, site }: Dependencies): Tool =>
  tool({
    name: "get_panorama_task",
    title: "Read a panorama task",
    description:
      "Reads a task by the id that a generate tool returned. Free. While its status is processing, call again every few " +
      "seconds, or let this call wait with wait_seconds. When the task has succeeded, the answer contains the links to the " +
      "image and to the interactive 360° viewer; show the person the viewer link. When the task has failed, " +
      "the reserved credits have been refunded, and error says why and what to do.",
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    input,
    output,
    run: async ({ id, wait_seconds: seconds }, { signal, progress }) => {
      if (seconds > 0) await progress(0, seconds, "Waiting for the panorama");
      const read = await resultOf(
        seconds === 0
          ? client.read(id, { signal, timeout: CALL_MILLISECONDS })
          : client.wait(id, {
              timeout: seconds * 1000,
              signal,
              onProgress: ({ task, elapsedSeconds }) => {
                const words = task.status === "processing" ? forecastWords(task) : [];
                if (elapsedSeconds > 0 && elapsedSeconds < seconds)
                  void progress(elapsedSeconds, seconds, ["The panorama is being generated", ...words].join(", "));
              },
            }),
      );
      if (read.isErr()) return err(toolErrorOf(read.error, site));
      const task = read.value;
      if (seconds > 0) await progress(seconds, seconds, progressMessage[task.status]);
      // Leaves out what a newer service says beyond it.
      const known = toolTaskSchema.parse(task);
      const structured =
        known.status === "failed" && task.status === "failed"
          ? { ...known, error: { ...known.error, what_to_do: afterFailure(task) } }
          : known;
      return ok({ structured, message: taskMessage(task) });
    },
  });

const progressMessage: Record<PanoramaTask["status"], string> = {
  processing: "The panorama is still being generated",
  succeeded: "The panorama is finished",
  failed: "The generation has failed",
};

/** True if the panorama is stored, or cannot be stored. Then it does not change any more. */
export const isFinished = (task: PanoramaTask): boolean =>
  task.status === "failed" ||
  (task.status === "succeeded" && task.output !== undefined && task.output.storage_status !== "uploading");

/** State of the task in words, and the next step. */
export const taskMessage = (task: PanoramaTask): string => {
  switch (task.status) {
    case "processing":
      return `${[`Task ${task.id} is still processing`, ...forecastWords(task)].join(", ")}. Call get_panorama_task with this id again in a few seconds; do not submit the prompt again.`;
    case "failed":
      return `Task ${task.id} failed: ${task.error.message} ${afterFailure(task)}`;
    case "succeeded":
      return task.output === undefined
        ? `Task ${task.id} has succeeded, but its links are not available yet. Call get_panorama_task again in a few seconds.`
        : `Task ${task.id} has succeeded.\n${linksText(task.output)}`;
  }
};

const linksText = ({ viewer_url, image_url, storage_status }: PanoramaOutput): string =>
  [...(viewer_url ? [`Viewer: ${viewer_url}`] : []), `Image: ${image_url}`, storageText[storage_status]].join("\n");

const storageText: Record<PanoramaOutput["storage_status"], string> = {
  uploading: "The image link is temporary. Call get_panorama_task again in a few seconds for the permanent link.",
  saved: "The image link is permanent.",
  "saved-no-thumb": "The image link is permanent.",
  failed: "The image could not be saved to permanent storage. Its link is temporary: download it soon.",
  expired: "The image is no longer stored. Its link may no longer work.",
};
