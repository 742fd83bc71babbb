import { isInObjectFolder, isReference, type ObjectName } from "../../domain/images/object-name.js";
import { type BrokenRule, type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import { isPublicHost } from "../../domain/public-host.js";
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

/**
 * Finds uploads of this service among the URLs and checks the others: another image of this service must exist and not
 * be hidden by an operator; any other URL must not be at a private address. URLs of this installation may be private.
 */
export async function readImageUrls(
  storage: ObjectStorage,
  tasks: Pick<TaskAccess, "isHiddenImage">,
  imageUrls: readonly string[],
): Promise<ImageUrls> {
  const recorded = new Map<number, ObjectName>();
  let refusal: InvalidRequest | undefined;
  for (const [index, url] of imageUrls.entries()) {
    const name = storage.nameOf(url);
    if (name !== undefined && isReference(name)) {
      recorded.set(index, name);
      continue;
    }
    const rule = refusal === undefined ? await brokenRule(storage, tasks, url, name) : undefined;
    if (rule !== undefined) refusal = invalidRequest("image_urls", rule, index);
  }
  return { recorded, refusal };
}

/**
 * The broken rule of a URL. A panorama can be a reference too; if its owner deletes it before it is read, the task
 * fails and is refunded. If the storage is down, the provider finds out later.
 */
async function brokenRule(
  storage: ObjectStorage,
  tasks: Pick<TaskAccess, "isHiddenImage">,
  url: string,
  name: ObjectName | undefined,
): Promise<BrokenRule | undefined> {
  if (name !== undefined) {
    const isThere = (await storage.has(name)).unwrapOr(true) && !(await tasks.isHiddenImage({ name }));
    return isThere ? undefined : { name: "missing_image" };
  }
  if (isInObjectFolder(url, (name) => storage.urlOf(name))) return { name: "missing_image" };
  const { hostname } = new URL(url);
  return isPublicHost(hostname) ? undefined : { name: "public_host", actual: hostname };
}
