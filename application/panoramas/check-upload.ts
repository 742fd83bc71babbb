import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import { PANORAMA_POLICY } from "../../domain/panorama-policy.js";
import { admitUpload } from "../../domain/reference-image.js";
import type { ApplicationSettings } from "../application-settings.js";
import type { ReferenceStore } from "../ports/reference-store.js";

/** What `checkUpload` returns. */
export type CheckUpload = ReturnType<typeof checkUpload>;

/** Whether the account may upload anything now: asked before its files are received. */
export const checkUpload =
  (
    { references }: { readonly references: Pick<ReferenceStore, "standing"> },
    { policy = PANORAMA_POLICY }: Pick<ApplicationSettings, "policy"> = {},
  ) =>
  async (owner: AccountId): Promise<Result<void, InvalidRequest>> =>
    admitUpload(await references.standing(owner), 0, policy.prices);
