import type { ContentBlock } from "@modelcontextprotocol/server";
import { err, ok } from "neverthrow";
import * as z from "zod";
import { type ObjectName, thumbnailNameOf } from "../../domain/images/object-name.js";
import { downloadImage } from "../client/download-image.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import type { PanoramaOutput, PanoramaTask } from "../client/resources.js";
import { resultOf } from "../client/result-of.js";
import { forecastWords } from "../wording/forecast-words.js";
import { canBeTaskId, imageTypeOf, taskLink } from "./task-resources.js";
import { panoramaOutputSchema, panoramaTaskSchema, TASK_STATUSES, taskErrorSchema } from "./task-schemas.js";
import { CALL_MILLISECONDS, type Tool, tool } from "./tool.js";
import { afterFailure, toolErrorOf } from "./tool-error.js";

/** Even with the grace of the last read, well below 60 s: MCP clients abort a call after that. */
const WAIT_SECONDS_MAX = 30;
const THUMBNAIL_BYTES_MAX = 512 * 1024;
const THUMBNAIL_SECONDS = 3;

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
  output: panoramaOutputSchema
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
  error: taskErrorSchema
    .extend({ what_to_do: z.string().optional().describe("What to do next, by the reason.") })
    .optional(),
});

type Dependencies = {
  readonly client: PanoramaClient;
  readonly site: string;
  /** Tasks whose thumbnail an earlier call of this process has attached. */
  readonly shownThumbnails: Set<string>;
};

/** Enough for every conversation; after that, thumbnails are attached once more. */
const SHOWN_THUMBNAILS_MAX = 1_000;

export const getPanoramaTask = ({ client, site, shownThumbnails }: Dependencies): Tool =>
  tool({
    name: "get_panorama_task",
    title: "Read a panorama task",
    description:
      "Reads a task by the id that a generate tool returned. Free. While its status is processing, call again every few " +
      "seconds, or let this call wait with wait_seconds. When the task has succeeded, the answer contains the links to the " +
      "image and to the interactive 360° viewer, the first time with a thumbnail; show the person the viewer link. When " +
      "the task has failed, the reserved credits have been refunded, and error says why and what to do.",
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
      const withThumbnail = !shownThumbnails.has(task.id);
      const attachments = (await finishedTask(task)?.attachments(signal, withThumbnail)) ?? linksOf(task);
      if (attachments.some(({ type }) => type === "image")) {
        if (shownThumbnails.size >= SHOWN_THUMBNAILS_MAX) shownThumbnails.clear();
        shownThumbnails.add(task.id);
      }
      // Leaves out what a newer service says beyond it.
      const known = panoramaTaskSchema.parse(task);
      const structured =
        known.status === "failed" && task.status === "failed"
          ? { ...known, error: { ...known.error, what_to_do: afterFailure(task) } }
          : known;
      return ok({ structured, text: textOf(task), attachments });
    },
  });

const progressMessage: Record<PanoramaTask["status"], string> = {
  processing: "The panorama is still being generated",
  succeeded: "The panorama is finished",
  failed: "The generation has failed",
};

/** The text and the attachments of a panorama that is stored, or cannot be; `undefined` for all others. */
export const finishedTask = (task: PanoramaTask) => {
  if (task.status !== "succeeded" || task.output === undefined || task.output.storage_status === "uploading") {
    return undefined;
  }
  const { output } = task;
  return {
    text: textOf(task),
    attachments: async (signal: AbortSignal, withThumbnail = true): Promise<readonly ContentBlock[]> => [
      ...linksOf(task),
      ...(withThumbnail ? await thumbnailOf(output, signal) : []),
    ],
  };
};

const textOf = (task: PanoramaTask): string => {
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

const linksOf = (task: PanoramaTask): readonly ContentBlock[] => {
  if (task.status !== "succeeded" || task.output === undefined) return [taskLink(task.id)];
  const { image_url, viewer_url, slug } = task.output;
  const image = { name: `${slug} image`, title: "Equirectangular image", mimeType: imageTypeOf(image_url) };
  const viewer = { name: `${slug} viewer`, title: "360° viewer", mimeType: "text/html" };
  const forPerson = (priority: number) => ({ annotations: { audience: ["user" as const], priority } });
  return [
    ...(viewer_url ? [{ type: "resource_link" as const, uri: viewer_url, ...viewer, ...forPerson(1) }] : []),
    { type: "resource_link", uri: image_url, ...image, ...forPerson(0.8) },
    taskLink(task.id),
  ];
};

/** At most one block: the thumbnail is optional. */
const thumbnailOf = async (output: PanoramaOutput, signal: AbortSignal): Promise<readonly ContentBlock[]> => {
  const { image_url, storage_status } = output;
  // The URL ends in the name of the object, so the rule for names gives the URL of the thumbnail.
  const thumbnailUrl = thumbnailNameOf(image_url as ObjectName);
  if (storage_status !== "saved" || thumbnailUrl === image_url) return [];
  const thumbnail = await downloadImage(thumbnailUrl, {
    bytesMax: THUMBNAIL_BYTES_MAX,
    seconds: THUMBNAIL_SECONDS,
    signal,
  });
  if (thumbnail.isErr()) return [];
  const { bytes, type } = thumbnail.value;
  const data = Buffer.from(bytes).toString("base64");
  return [{ type: "image", data, mimeType: type, annotations: { audience: ["user"], priority: 0.6 } }];
};
