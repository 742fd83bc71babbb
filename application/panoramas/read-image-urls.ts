import type { AccountId } from "../../domain/ids.js";
import { isInObjectFolder, isReference, isThumbnail, type ObjectName } from "../../domain/images/object-name.js";
import { type BrokenRule, type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import { isPublicHost } from "../../domain/public-host.js";
import { isReferenceFor, type SucceededTask } from "../../domain/tasks/task.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import type { TaskAccess } from "../ports/stores/tasks/task-access.js";

/** Checked image URLs of a creation request, by index. */
export type ImageUrls = {
  /**
   * Uploaded images of this service. They may be deleted at any moment, so the store checks them where it opens the
   * task.
   */
  readonly recorded: ReadonlyMap<number, ObjectName>;
  /** The error of the first other URL that cannot be used. */
  readonly refusal: InvalidRequest | undefined;
};

/** Where panoramas and their images are found. */
export type PanoramaSources = {
  readonly storage: Pick<ObjectStorage, "nameOf" | "urlOf">;
  readonly tasks: Pick<TaskAccess, "findByImage">;
};

/**
 * Finds uploads of this service among the URLs and checks the others: a panorama of this service must be one that the
 * owner of the creation may see; any other URL must be https, and not at a private address. URLs of this installation
 * may be http and private.
 */
export async function readImageUrls(
  sources: PanoramaSources,
  owner: AccountId,
  imageUrls: readonly string[],
): Promise<ImageUrls> {
  const recorded = new Map<number, ObjectName>();
  let refusal: InvalidRequest | undefined;
  for (const [index, url] of imageUrls.entries()) {
    const name = sources.storage.nameOf(url);
    if (name !== undefined && isReference(name)) {
      recorded.set(index, name);
      continue;
    }
    const rule = refusal === undefined ? await brokenRule(sources, owner, url, name) : undefined;
    if (rule !== undefined) refusal = invalidRequest("image_urls", rule, index);
  }
  return { recorded, refusal };
}

/**
 * The broken rule of a URL. A panorama can be a reference too; if its owner deletes it before it is read, the task
 * fails and is refunded.
 */
async function brokenRule(
  sources: PanoramaSources,
  owner: AccountId,
  url: string,
  name: ObjectName | undefined,
): Promise<BrokenRule | undefined> {
  if (name !== undefined) {
    if (isThumbnail(name)) return { name: "thumbnail" };
    return (await sourceOf(sources, owner, name)) === undefined ? { name: "missing_image" } : undefined;
  }
  if (isInObjectFolder(url, (folder) => sources.storage.urlOf(folder))) return { name: "missing_image" };
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:") return { name: "https_url", actual: url };
  return isPublicHost(hostname) ? undefined : { name: "public_host", actual: hostname };
}

/** The panorama with this image, if the account may make another one from it. */
export async function sourceOf(
  { tasks }: Pick<PanoramaSources, "tasks">,
  account: AccountId | undefined,
  image: ObjectName,
): Promise<SucceededTask | undefined> {
  const task = await tasks.findByImage(image);
  return task && isReferenceFor(task, account) ? task : undefined;
}
