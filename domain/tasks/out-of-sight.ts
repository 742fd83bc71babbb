import type { ApiKeyId } from "../accounts/api-key.js";
import type { Brand } from "../ids.js";

/** The one who deleted a panorama: its owner with a key or on the web pages, or an operator with the account. */
export type DeletedBy = "page" | "operator" | Brand<`key ${string}`, "DeletedBy">;

/** The owner, by a request with this key. */
export const deletedByKey = (id: ApiKeyId): DeletedBy => `key ${id}` as DeletedBy;

/**
 * An operator has hidden the panorama from everybody but its owner.
 *
 *   visible ──hide──▶ hidden ──show──▶ visible
 *
 * Visible: the owner's visibility applies. Hidden: it is `private`, and the owner cannot publish it. `by`: name of the
 * operator.
 */
export type Hiding = { readonly at: Date; readonly reason: string; readonly by?: string | undefined };
