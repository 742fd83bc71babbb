import type { Result } from "neverthrow";
import type { Email } from "../../../../domain/accounts/account.js";
import type { PasswordLink } from "../../../../domain/accounts/password.js";
import type { LedgerEntry } from "../../../../domain/credits/ledger.js";
import type { AccountId } from "../../../../domain/ids.js";
import type { EmailTaken } from "./account-store.js";

/** The link is unknown, was used, or has expired. */
export type LinkExpired = { readonly kind: "link_expired" };

/** What a link is redeemed for. */
export type Redemption = {
  readonly passwordHash: string;
  /** For the account that is opened if the e-mail address has none. */
  readonly newAccountId: AccountId;
  /** An entry of its ledger. */
  readonly welcome?: LedgerEntry | undefined;
};

/**
 * Stores the links with which a password can be set, or an address confirmed. Throws if the store is unreachable or a
 * row is unreadable.
 */
export interface PasswordLinkStore {
  /**
   * Stores the link, and deletes the links that have expired. Returns `false` and stores nothing if `liveMax` links of
   * the e-mail address have not expired yet; concurrent calls may exceed that number.
   */
  insert(link: PasswordLink, now: Date, liveMax: number): Promise<boolean>;
  /** The e-mail address of a link that has not expired. */
  find(tokenSha256: string, now: Date): Promise<Email | undefined>;
  /**
   * Sets the password of the link's e-mail address in one transaction: deletes all links of the address and all
   * sessions of its account. If the address has no account, opens one. Returns the account's id. Of concurrent calls
   * with the same link one succeeds.
   */
  redeem(tokenSha256: string, redemption: Redemption, now: Date): Promise<Result<AccountId, LinkExpired>>;
  /**
   * Makes the link's e-mail address that of the account in one transaction: deletes all links and letters of this
   * address and of the earlier one, which it returns. Changes nothing if another account has the address. Of concurrent
   * calls with the same link one succeeds. Throws if the account does not exist.
   */
  confirmEmail(tokenSha256: string, account: AccountId, now: Date): Promise<Result<Email, LinkExpired | EmailTaken>>;
}
