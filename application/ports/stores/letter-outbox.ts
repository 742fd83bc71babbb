import type { Email } from "../../../domain/accounts/account.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Letter } from "../mail.js";

/**
 * A letter that is to be sent. It has no link: the database stores only digests of links, so one is made when the
 * letter is sent, and its time begins then.
 *
 * - `invitation`: an operator has invited the address.
 * - `pending_order`: a customer has ordered; the id is that of the order. To the operator, without a link.
 * - `none`: is not sent; it is stored so that an answer takes as long as with a letter.
 */
export type PostedLetter = {
  /** Unguessable. The same at each attempt, so that a mailbox can tell a letter that arrives twice. */
  readonly id: string;
  readonly kind: Letter["kind"] | "invitation" | "pending_order" | "none";
  readonly to: Email;
  /** Of a `confirm_email`: whose address it confirms. */
  readonly accountId?: AccountId | undefined;
};

/** `attempt`: 1 for the first one. */
export type ClaimedLetter = PostedLetter & { readonly attempt: number };

/**
 * The letters that are to be sent, shared by all instances. A letter is sent at least once, or given up. Throws if the
 * store is unreachable.
 */
export interface LetterOutbox {
  /** Due from `dueAt`. */
  add(letter: PostedLetter, dueAt: Date): Promise<void>;
  /**
   * Takes up to `limit` letters that are due, the one that has waited longest first. Nobody else gets them until
   * `leasedUntil`, when they are due again.
   */
  claim(now: Date, leasedUntil: Date, limit: number): Promise<readonly ClaimedLetter[]>;
  /** It is sent, or given up. Changes nothing if somebody else has claimed it since. */
  remove(letter: ClaimedLetter): Promise<void>;
  /** Makes it due at another time. Changes nothing if somebody else has claimed it since. */
  retry(letter: ClaimedLetter, dueAt: Date): Promise<void>;
}
