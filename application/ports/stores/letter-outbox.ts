import type { Email } from "../../../domain/accounts/account.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Letter } from "../mail.js";

/**
 * A queued letter. It has no link: the database stores only digests of links. The link is made when the letter is sent,
 * and is valid from then on.
 *
 * - `invitation`: an operator has invited the address.
 * - `pending_order`: tells the operator of a customer's order with this id; has no link.
 * - `none`: is not sent; it is stored so that an answer takes as long as with a letter.
 */
export type PostedLetter = {
  /** Unguessable. The same at each attempt, so that mail servers can detect duplicates. */
  readonly id: string;
  readonly kind: Letter["kind"] | "invitation" | "pending_order" | "none";
  readonly to: Email;
  /** Account of a `confirm_email`. */
  readonly accountId?: AccountId | undefined;
};

/** `attempt`: 1 for the first one. */
export type ClaimedLetter = PostedLetter & { readonly attempt: number };

/**
 * The queued letters of all instances. A letter is sent at least once, or given up. Throws if the store is unreachable.
 */
export interface LetterOutbox {
  /** Adds a letter that is due from `dueAt`. */
  add(letter: PostedLetter, dueAt: Date): Promise<void>;
  /**
   * Takes up to `limit` due letters, the longest waiting first. No other process gets them until `leasedUntil`;
   * then they are due again.
   */
  claim(now: Date, leasedUntil: Date, limit: number): Promise<readonly ClaimedLetter[]>;
  /** Removes a letter that was sent or given up. No effect if another worker has claimed it since. */
  remove(letter: ClaimedLetter): Promise<void>;
  /** Makes the letter due at `dueAt`. No effect if another worker has claimed it since. */
  retry(letter: ClaimedLetter, dueAt: Date): Promise<void>;
  /** After the clock was set back: makes letters that are due after `latest` due at `dueAt`. */
  bringForward(latest: Date, dueAt: Date): Promise<void>;
}
