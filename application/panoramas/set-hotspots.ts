import { err, type Result } from "neverthrow";
import type { AccountId } from "../../domain/account-id.js";
import { type InvalidRequest, invalidRequest } from "../../domain/invalid-request.js";
import type { TaskId } from "../../domain/task-id.js";
import { type Hotspots, linksOf, notOwn } from "../../domain/tasks/hotspots.js";
import type { NotFound } from "../errors.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

/**
 * The owner replaces all hotspots of a finished panorama. Each link leads to another finished one of theirs, also a
 * private one. What becomes of it later is decided when the hotspots are shown (find-linked-panoramas.ts).
 */
export const setHotspots =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "setHotspots" | "findOwnBySlugs"> }) =>
  async (id: TaskId, owner: AccountId, hotspots: Hotspots): Promise<Result<void, NotFound | InvalidRequest>> => {
    const linked = await tasks.findOwnBySlugs(owner, linksOf(hotspots));
    const others = new Set(linked.flatMap((task) => (task.id === id ? [] : task.slug)));
    for (const [index, { to }] of hotspots.entries()) {
      if (to !== undefined && !others.has(to)) return err(invalidRequest("to", notOwn(to), index));
    }
    return tasks.setHotspots(id, owner, hotspots);
  };
