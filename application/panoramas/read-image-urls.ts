import { isInObjectFolder, isReference, type ObjectName } from "../../domain/images/object-name.js";
import { type BrokenRule, type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import { isPublicHost } from "../../domain/public-host.js";
import type { ObjectStorage } from "../ports/object-storage.js";
import type { TaskAccess } from "../ports/stores/tasks/task-access.js";

/** What the image URLs of a creation request are, by the index of each. */
export type ImageUrls = {
  /** Uploaded images, which may be deleted at any moment. The store checks them where it opens the task. */
  readonly recorded: ReadonlyMap<number, ObjectName>;
  /** Why the first of the other URLs that cannot work is refused. */
  readonly refusal: InvalidRequest | undefined;
};

type Ports = {
  readonly storage: Pick<ObjectStorage, "nameOf" | "urlOf" | "has">;
  readonly tasks: Pick<TaskAccess, "isHiddenImage">;
};

/**
 * Which image URLs are uploaded images of this service, and whether the others can work: another image of this service
 * must exist and not be hidden by an operator, and any other URL must not be at a private address. The installation
 * itself may be at one.
 */
export const readImageUrls = async (ports: Ports, imageUrls: readonly string[]): Promise<ImageUrls> => {
  const recorded = new Map<number, ObjectName>();
  let refusal: InvalidRequest | undefined;
  for (const [index, url] of imageUrls.entries()) {
    const name = ports.storage.nameOf(url);
    if (name !== undefined && isReference(name)) {
      recorded.set(index, name);
      continue;
    }
    const rule = refusal === undefined ? await brokenRule(ports, url, name) : undefined;
    if (rule !== undefined) refusal = invalidRequest("image_urls", rule, index);
  }
  return { recorded, refusal };
};

/**
 * Panoramas are references too. Nothing protects them from their owner: a task whose panorama is deleted before it is
 * read fails, and is refunded. If the storage does not answer, the provider finds out later.
 */
const brokenRule = async (
  { storage, tasks }: Ports,
  url: string,
  name: ObjectName | undefined,
): Promise<BrokenRule | undefined> => {
  if (name !== undefined) {
    const isThere = (await storage.has(name)).unwrapOr(true) && !(await tasks.isHiddenImage({ name }));
    return isThere ? undefined : { name: "missing_image" };
  }
  if (isInObjectFolder(url, (name) => storage.urlOf(name))) return { name: "missing_image" };
  const { hostname } = new URL(url);
  return isPublicHost(hostname) ? undefined : { name: "public_host", actual: hostname };
};
