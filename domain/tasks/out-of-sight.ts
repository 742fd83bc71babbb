import type { ApiKeyId } from "../accounts/api-key.js";
import type { Brand } from "../ids.js";

/** Who has deleted a panorama: its owner with a key or on the pages, or an operator with the account. */
export type DeletedBy = "page" | "operator" | Brand<`key ${string}`, "DeletedBy">;

/** Its owner, by a request with this key. */
export const deletedByKey = (id: ApiKeyId): DeletedBy => `key ${id}` as DeletedBy;

/**
 * An operator has hidden the panorama from everybody but its owner.
 *
 *   visible ──hide──▶ hidden ──show──▶ visible
 *
 * Visible, it has the visibility that its owner chose. Hidden it is `private`, and its owner cannot change that. `by`:
 * who has hidden it.
 */
export type Hiding = { readonly at: Date; readonly reason: string; readonly by?: string | undefined };
