import type { PasswordLinkToken } from "../../../domain/accounts/password.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Secrets } from "../../ports/secrets.js";

/**
 * The digest of a link that changes the e-mail address of this account. It differs from that of a link that sets a
 * password, so neither can be used as the other. It differs between accounts, so a link that somebody else has asked
 * for cannot change the address of the account that follows it.
 */
export const emailLinkDigest = (
  { sha256 }: Pick<Secrets, "sha256">,
  account: AccountId,
  token: PasswordLinkToken,
): string => sha256(`e-mail of ${account} ${token}`);
