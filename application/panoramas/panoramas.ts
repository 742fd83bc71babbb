import { err, ok, type Result } from "neverthrow";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { type IllegalTransition, retry } from "../../domain/images/storage-status.js";
import type { Slug } from "../../domain/tasks/slug.js";
import { isReferenceFor, type SucceededTask, type Task, withImage } from "../../domain/tasks/task.js";
import type { TaskFilter } from "../../domain/tasks/task-filter.js";
import type { Visibility } from "../../domain/tasks/visibility.js";
import type { ApplicationSettings } from "../application-settings.js";
import { type NotFound, notFound } from "../errors.js";
import { directionOf, type NeighbourCursors, neighbourCursors, type PageStart, pageOf } from "../page-of.js";
import type { Clock } from "../ports/clock.js";
import type { ImageAddress, IsHidden, TaskAccess } from "../ports/stores/tasks/task-access.js";
import type { TaskLists } from "../ports/stores/tasks/task-lists.js";
import type { StaleTask, TaskStore } from "../ports/stores/tasks/task-store.js";
import { type OwnSearch, type OwnSearchPage, searchOwn } from "./search-own.js";

/** `next`: pass it as `before` to read the next page; `newer`: as `after`; `undefined` if there is none. */
type TaskPage = NeighbourCursors & { readonly tasks: readonly Task[] };

/** Page and filter of the owner's tasks. */
type TaskRange = PageStart & { readonly filter?: TaskFilter | undefined };

/** `next` is `before` for the older page, `newer` is `after` for the newer one; `undefined` if there is none. */
type GalleryPage = NeighbourCursors & { readonly panoramas: readonly SucceededTask[] };

/** Page and order of the gallery. */
type GalleryRange = PageStart & { readonly sort?: "newest" | "oldest" | undefined };

type GallerySettings = Pick<ApplicationSettings, "gallery">;

/** Images that an operator's retry reads at once. */
const PAGE_SIZE = 100;

/** Panoramas in any state, as they are stored: reading, lists, gallery, visibility, and retries of their images. */
export function panoramas(
  { tasks, clock }: { readonly tasks: TaskStore & TaskAccess & TaskLists; readonly clock: Clock },
  settings: GallerySettings = {},
) {
  return {
    /** `GET /panoramas/{id}`. A task of another account and an unknown id both give `not_found`. */
    read(id: TaskId, owner: AccountId): Promise<Result<Task, NotFound>> {
      return readTask(tasks, id, owner);
    },

    /** `GET /panoramas`: the account's tasks that match the filter, newest first, `limit` at a time. */
    async list(owner: AccountId, limit: number, { before, after, filter }: TaskRange = {}): Promise<TaskPage> {
      const [first, beyond] = directionOf(before, after, "newest");
      const { items, last } = pageOf(await tasks.list(owner, limit + 1, beyond, { filter, first }), limit);
      return {
        tasks: first === "newest" ? items : items.toReversed(),
        ...neighbourCursors(first, beyond, items[0]?.id, last?.id),
      };
    },

    /** The search on `/works`. */
    searchOwn(owner: AccountId, search: OwnSearch, limit: number, before?: TaskId): Promise<OwnSearchPage> {
      return searchOwn(tasks, owner, search, limit, before);
    },

    /** `GET /works/{slug}`: the owner's panorama in any state. Other accounts' and unknown slugs give `undefined`. */
    async findOwn(slug: Slug, owner: AccountId): Promise<Task | undefined> {
      const task = await tasks.findBySlug(slug);
      return task?.accountId === owner ? task : undefined;
    },

    /** `GET /works?change={slug}`: a panorama that the account may make another one from. */
    async findReference(slug: Slug, account: AccountId): Promise<SucceededTask | undefined> {
      const task = await tasks.findBySlug(slug);
      return task && isReferenceFor(task, account) ? task : undefined;
    },

    /** `GET /p/{slug}`: the finished panorama of this slug. Private and unknown slugs both give `undefined`. */
    async findPublic(slug: Slug): Promise<SucceededTask | undefined> {
      const task = await tasks.findBySlug(slug);
      return task?.state === "succeeded" && task.request.visibility === "public" ? task : undefined;
    },

    /**
     * The public gallery: public panoramas of all accounts whose image is in permanent storage, in the order `sort`;
     * none in the mode `off`. Without `before` and `after`, the first page.
     */
    listPublic(limit: number, range: GalleryRange = {}): Promise<GalleryPage> {
      return readGallery(settings, limit, range, (...page) => tasks.listPublic(...page));
    },

    /** `listPublic` for the prompts with these words (domain/tasks/prompt-search.ts; at least one word). */
    searchPublic(words: readonly string[], limit: number, range: GalleryRange = {}): Promise<GalleryPage> {
      return readGallery(settings, limit, range, (...page) => tasks.searchPublic(words, ...page));
    },

    /** True if the image, its thumbnail or its temporary URL belongs to a hidden panorama. */
    isHiddenImage(image: ImageAddress): Promise<boolean> {
      return tasks.isHiddenImage(image);
    },

    /** Makes a panorama public or private. `hidden`: an operator has hidden it, so it stays private. */
    changeVisibility(id: TaskId, owner: AccountId, visibility: Visibility): Promise<Result<void, NotFound | IsHidden>> {
      return tasks.setVisibility(id, owner, visibility);
    },

    /** Retries storing for the operator: the storage status of a finished image becomes `uploading` again. */
    async retryImage(id: TaskId, owner: AccountId): Promise<Result<void, NotFound | IllegalTransition | StaleTask>> {
      const task = await tasks.find(id, owner);
      if (task?.state !== "succeeded") return err(notFound(`There is no finished task ${id} on account ${owner}.`));
      const image = retry(task.image);
      return image.isErr() ? err(image.error) : tasks.move(task, withImage(task, image.value), clock.now());
    },

    /** `retryImage` for every image of all accounts with storage status `failed`. Resolves to their number. */
    async retryFailedImages(): Promise<number> {
      let retried = 0;
      for (let before: TaskId | undefined; ; ) {
        const { items, last } = pageOf(await tasks.listFailedImages(PAGE_SIZE + 1, before), PAGE_SIZE);
        for (const task of items) {
          const image = retry(task.image);
          if (image.isErr()) continue;
          const moved = await tasks.move(task, withImage(task, image.value), clock.now());
          if (moved.isOk()) retried += 1; // otherwise its owner has deleted it, or another command has retried it
        }
        if (last === undefined) return retried;
        before = last.id;
      }
    },
  };
}

export async function readTask(tasks: TaskStore, id: TaskId, owner: AccountId): Promise<Result<Task, NotFound>> {
  const task = await tasks.find(id, owner);
  return task === undefined ? err(notFound(`There is no task ${id} on this account.`)) : ok(task);
}

async function readGallery(
  { gallery }: GallerySettings,
  limit: number,
  { before, after, sort = "newest" }: GalleryRange,
  read: TaskLists["listPublic"],
): Promise<GalleryPage> {
  if (gallery === "off") return { panoramas: [], next: undefined, newer: undefined };
  const [first, beyond] = directionOf(before, after, sort);
  const { items, last } = pageOf(await read(limit + 1, beyond, first), limit);
  return {
    panoramas: first === sort ? items : items.toReversed(),
    ...neighbourCursors(first, beyond, items[0]?.id, last?.id),
  };
}
