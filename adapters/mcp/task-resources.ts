import type { ReadResourceResult } from "@modelcontextprotocol/server";
import { err, ok, type Result } from "neverthrow";
import { isStorable } from "../../domain/text.js";
import type { PanoramaClient } from "../client/panorama-client.js";
import { resultOf } from "../client/panorama-error.js";
import type { PanoramaOutput, PanoramaTask } from "../client/resources.js";
import { CALL_MILLISECONDS } from "./tool.js";
import { afterFailure, type ToolError, toolErrorOf } from "./tool-error.js";

const RECENT = "panorama://recent";
const TASK = "panorama://task/";
const RECENT_MAX = 20;
const JSON_TYPE = "application/json";

/** The latest panoramas: the only resource with a fixed URI. */
export const RESOURCES = [
  {
    uri: RECENT,
    name: "recent",
    title: "Latest panoramas",
    description: `The latest ${RECENT_MAX} panoramas of the account, newest first: state, prompt and links. Free.`,
    mimeType: JSON_TYPE,
    annotations: { audience: ["assistant" as const], priority: 0.6 },
  },
];

/** Each panorama of the account. */
export const RESOURCE_TEMPLATES = [
  {
    uriTemplate: `${TASK}{id}`,
    name: "task",
    title: "Panorama",
    description: "One panorama by the id of its task: state, prompt, and the links to its picture and viewer. Free.",
    mimeType: JSON_TYPE,
    annotations: { audience: ["assistant" as const], priority: 0.5 },
  },
];

const taskUri = (id: string): string => `${TASK}${encodeURIComponent(id)}`;

/** Returns `undefined` for a URI that no resource can have. */
export async function readResource(
  uri: string,
  { client, site }: { readonly client: PanoramaClient; readonly site: string },
  signal: AbortSignal,
): Promise<Result<ReadResourceResult, ToolError> | undefined> {
  const options = { signal, timeout: CALL_MILLISECONDS };
  if (uri === RECENT) {
    const page = await resultOf(client.list({ limit: RECENT_MAX, ...options }));
    if (page.isErr()) return err(toolErrorOf(page.error, site));
    return ok(jsonOf(uri, { panoramas: page.value.data.map(described) }));
  }
  const id = idOf(uri);
  if (id === undefined) return undefined;
  const task = await resultOf(client.read(id, options));
  if (task.isOk()) return ok(jsonOf(uri, described(task.value)));
  return task.error.code === "not_found" ? undefined : err(toolErrorOf(task.error, site));
}

/** True if a task can have this id. Other text cannot be a part of a URL. */
export const canBeTaskId = (id: string): boolean => id.length <= 200 && isStorable(id);

function idOf(uri: string): string | undefined {
  if (!uri.startsWith(TASK)) return undefined;
  try {
    const id = decodeURIComponent(uri.slice(TASK.length));
    return id !== "" && canBeTaskId(id) ? id : undefined;
  } catch {
    return undefined; // not percent-encoded text
  }
}

const jsonOf = (uri: string, content: object): ReadResourceResult => ({
  contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(content, undefined, 1) }],
});

function described(task: PanoramaTask) {
  const { id, status, credits_charged, created_at, resolution, visibility, prompt, image_urls } = task;
  const core = {
    uri: taskUri(id),
    id,
    status,
    created_at,
    prompt,
    image_urls,
    resolution,
    visibility,
    credits_charged,
  };
  switch (task.status) {
    case "processing":
      return { ...core, queue_position: task.queue_position, estimated_seconds: task.estimated_seconds };
    case "failed":
      return { ...core, error: { ...task.error, what_to_do: afterFailure(task) } };
    case "succeeded":
      return { ...core, ...(task.output === undefined ? {} : picture(task.output)) };
  }
}

const picture = ({ image_url, viewer_url, storage_status, ai_generated, thumbnail_url }: PanoramaOutput) => ({
  picture: { type: "resource_link", uri: image_url, mimeType: imageTypeOf(image_url) },
  thumbnail_url,
  viewer_url,
  storage_status,
  ai_generated,
});

/** The type of a picture by the end of its URL. Panoramas are JPEGs unless the URL says something else. */
function imageTypeOf(url: string): string {
  const extension = /\.(png|webp)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase();
  return extension === undefined ? "image/jpeg" : `image/${extension}`;
}
