import type { Email } from "../../../domain/accounts/account.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Entities } from "../database/orm/entities.js";
import { LetterTable, PasswordLinkTable, SessionTable } from "../database/schema/schema.js";

/**
 * Ends all sessions of an account, and deletes the links that set its password, and letters that would have one or
 * confirm a new address of it. The account's row must be locked.
 */
export const deleteAccess = async (entities: Entities, id: AccountId, email: Email): Promise<void> => {
  await entities.nativeDelete(SessionTable, { accountId: id });
  await deleteLinks(entities, id, email);
};

/** Deletes the links and letters of `deleteAccess`. */
export const deleteLinks = async (entities: Entities, id: AccountId, email: Email): Promise<void> => {
  await entities.nativeDelete(PasswordLinkTable, { email });
  await entities.nativeDelete(LetterTable, { $or: [{ recipient: email }, { accountId: id }] });
};
