import type { Email } from "../../../domain/accounts/account.js";
import type { AccountId } from "../../../domain/ids.js";
import type { EmailMessage } from "../mail.js";

/**
 * A queued e-mail. It has no link: the database stores only digests of links. The link is made when the e-mail is sent,
 * and is valid from then on.
 *
 * - `invitation`: an operator has invited the address.
 * - `pending_order`: tells the operator of a customer's order with this id; has no link.
 * - `none`: is not sent; it is stored so that an answer takes as long as with an e-mail.
 */
export type PostedMessage = {
  /** Unguessable. The same at each attempt, so that mail servers can detect duplicates. */
  readonly id: string;
  readonly kind: EmailMessage["kind"] | "invitation" | "pending_order" | "none";
  readonly to: Email;
  /** Account of a `confirm_email`. */
  readonly accountId?: AccountId | undefined;
};

/** `attempt`: 1 for the first one. */
export type ClaimedMessage = PostedMessage & { readonly attempt: number };

/**
 * The queued e-mails of all instances. An e-mail is sent at least once, or given up. Throws if the store is
 * unreachable.
 */
export interface EmailOutbox {
  /** Adds an e-mail that is due from `dueAt`. */
  add(message: PostedMessage, dueAt: Date): Promise<void>;
  /**
   * Takes up to `limit` due e-mails, the longest waiting first. No other process gets them until `leasedUntil`;
   * then they are due again.
   */
  claim(now: Date, leasedUntil: Date, limit: number): Promise<readonly ClaimedMessage[]>;
  /** Removes an e-mail that was sent or given up. No effect if another worker has claimed it since. */
  remove(message: ClaimedMessage): Promise<void>;
  /** Makes the e-mail due at `dueAt`. No effect if another worker has claimed it since. */
  retry(message: ClaimedMessage, dueAt: Date): Promise<void>;
  /** After the clock was set back: makes e-mails that are due after `latest` due at `dueAt`. */
  bringForward(latest: Date, dueAt: Date): Promise<void>;
}
