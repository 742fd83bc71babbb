import type { Slug } from "../../domain/slug.js";
import type { SucceededTask } from "../../domain/task.js";
import type { TaskStore } from "../ports/task-store.js";

export type FindPublicPanorama = ReturnType<typeof findPublicPanorama>;

/** `GET /p/{slug}`: the finished panorama of this slug; a private one is not told from one that does not exist. */
export const findPublicPanorama =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "findBySlug"> }) =>
  async (slug: Slug): Promise<SucceededTask | undefined> => {
    const task = await tasks.findBySlug(slug);
    return task?.state === "succeeded" && task.request.visibility === "public" ? task : undefined;
  };
