import type { Result } from "neverthrow";
import type { Account, Email } from "../../../../domain/accounts/account.js";
import type { ApiKey } from "../../../../domain/accounts/api-key.js";
import type { Credits } from "../../../../domain/credits/credits.js";
import type { LedgerEntry } from "../../../../domain/credits/ledger.js";
import type { PaidOrder } from "../../../../domain/credits/order.js";
import type { AccountId } from "../../../../domain/ids.js";
import type { NotFound } from "../../../errors.js";

/** Another account has this address. */
export type EmailTaken = { readonly kind: "email_taken"; readonly email: Email };

/** What a new account begins with. Nothing is required. */
export type AccountBeginning = {
  readonly passwordHash?: string | undefined;
  readonly order?: PaidOrder | undefined;
  readonly key?: ApiKey | undefined;
  /** An entry of its ledger. */
  readonly welcome?: LedgerEntry | undefined;
};

/** Stores accounts. Throws if the store is unreachable or a row is unreadable. */
export interface AccountStore {
  /**
   * Stores a new account in one transaction with what it begins with, and the ledger entry of its order. Stores nothing
   * if the e-mail address is taken.
   */
  open(account: Account, beginsWith?: AccountBeginning): Promise<Result<void, EmailTaken>>;
  isEmpty(): Promise<boolean>;
  exists(id: AccountId): Promise<boolean>;
  find(id: AccountId): Promise<Account | undefined>;
  /** For a login: the account with this e-mail address, and the hash of its password if it has one. */
  findByEmail(email: Email): Promise<{ account: Account; passwordHash: string | undefined } | undefined>;
  /**
   * Sets the password if the account has the password with the hash `current`, and deletes all sessions, links and
   * letters with links of the account, in one transaction. Returns whether it did.
   */
  replacePassword(id: AccountId, current: string, next: string): Promise<boolean>;
  /**
   * The threshold of domain/credits/standing.ts, which `TaskStore.open` passes on; `undefined`: none. Throws for an
   * unknown id.
   */
  lowBalance(id: AccountId): Promise<Credits | undefined>;
  setLowBalance(id: AccountId, threshold: Credits | undefined): Promise<Result<void, NotFound>>;
}
