import type { Slug } from "../../domain/slug.js";
import type { SucceededTask } from "../../domain/task.js";
import type { TaskStore } from "../ports/task-store.js";

/** What `findPublicPanorama` returns. */
export type FindPublicPanorama = ReturnType<typeof findPublicPanorama>;

/** `GET /p/{slug}`: the finished panorama of this slug. Private and unknown slugs both give `undefined`. */
export const findPublicPanorama =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "findBySlug"> }) =>
  async (slug: Slug): Promise<SucceededTask | undefined> => {
    const task = await tasks.findBySlug(slug);
    return task?.state === "succeeded" && task.request.visibility === "public" ? task : undefined;
  };
