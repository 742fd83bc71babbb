import type { Slug } from "../../domain/tasks/slug.js";
import type { SucceededTask } from "../../domain/tasks/task.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

/** `GET /p/{slug}`: the finished panorama of this slug. Private and unknown slugs both give `undefined`. */
export const findPublicPanorama =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "findBySlug"> }) =>
  async (slug: Slug): Promise<SucceededTask | undefined> => {
    const task = await tasks.findBySlug(slug);
    return task?.state === "succeeded" && task.request.visibility === "public" ? task : undefined;
  };
