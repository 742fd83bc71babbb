import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { admitUpload } from "../../domain/reference-image.js";
import type { ReferenceStore } from "../ports/reference-store.js";

/** What `checkUpload` returns. */
export type CheckUpload = ReturnType<typeof checkUpload>;

/** Whether the account may upload anything now: asked before its files are received. */
export const checkUpload =
  ({ references }: { readonly references: Pick<ReferenceStore, "standing"> }) =>
  async (owner: AccountId): Promise<Result<void, InvalidRequest>> =>
    admitUpload(await references.standing(owner), 0);
