import type { AccountId } from "../../domain/account-id.js";
import { isKept } from "../../domain/images/storage-status.js";
import { linksOf } from "../../domain/tasks/hotspots.js";
import type { SucceededTask } from "../../domain/tasks/task.js";
import type { TaskStore } from "../ports/stores/tasks/task-store.js";

/**
 * The panoramas to which the hotspots of a panorama lead, as far as this visitor may see them: public ones, and all for
 * their owner. Of the others nothing is told: a note remains. Neither a deleted panorama nor one without an image is
 * among them.
 */
export const findLinkedPanoramas =
  ({ tasks }: { readonly tasks: Pick<TaskStore, "findOwnBySlugs"> }) =>
  async ({ accountId, hotspots }: SucceededTask, visitor: AccountId | undefined): Promise<SucceededTask[]> =>
    (await tasks.findOwnBySlugs(accountId, linksOf(hotspots))).filter(
      ({ request, image }) => isKept(image) && (request.visibility === "public" || visitor === accountId),
    );
