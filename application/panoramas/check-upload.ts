import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import { admitUpload } from "../../domain/images/reference-image.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import type { CompleteSettings } from "../complete-settings.js";
import type { ReferenceStore } from "../ports/stores/reference-store.js";

/** Whether the account may upload anything now: asked before its files are received. */
export const checkUpload =
  (
    { references }: { readonly references: Pick<ReferenceStore, "standing"> },
    { policy }: Pick<CompleteSettings, "policy">,
  ) =>
  async (owner: AccountId): Promise<Result<void, InvalidRequest>> =>
    admitUpload(await references.standing(owner), 0, policy.prices);
