import type { Result } from "neverthrow";
import type { Account, AccountId, Email } from "../../domain/account.js";
import type { ApiKey } from "../../domain/api-key.js";
import type { Credits } from "../../domain/credits.js";
import type { LedgerEntry } from "../../domain/ledger.js";
import type { PaidOrder } from "../../domain/order.js";
import type { NotFound } from "../errors.js";

/** Another account has this address. */
export type EmailTaken = { readonly kind: "email_taken"; readonly email: Email };

/** Stores accounts. Throws if the store is unreachable or a row is unreadable. */
export interface AccountStore {
  /**
   * Stores a new account in one transaction, together with the paid order, its ledger entry and the API key if they are
   * given, and with `welcome`, an entry of the ledger with which the account begins. Stores nothing if the e-mail address
   * is taken.
   */
  open(
    account: Account,
    passwordHash: string | undefined,
    order: PaidOrder | undefined,
    key: ApiKey | undefined,
    welcome?: LedgerEntry,
  ): Promise<Result<void, EmailTaken>>;
  isEmpty(): Promise<boolean>;
  exists(id: AccountId): Promise<boolean>;
  find(id: AccountId): Promise<Account | undefined>;
  /** For a login: the account with this e-mail address, and the hash of its password if it has one. */
  findByEmail(email: Email): Promise<{ account: Account; passwordHash: string | undefined } | undefined>;
  /** Sets the password, and deletes all sessions and password links of the account, in one transaction. */
  setPassword(email: Email, passwordHash: string): Promise<Result<void, NotFound>>;
  /** The threshold of domain/low-balance.ts, which `TaskStore.open` passes on; `undefined`: none. Throws for an unknown id. */
  lowBalance(id: AccountId): Promise<Credits | undefined>;
  setLowBalance(id: AccountId, threshold: Credits | undefined): Promise<Result<void, NotFound>>;
}
