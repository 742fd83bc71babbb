import type { Result } from "neverthrow";
import type { Account, Email } from "../../../domain/accounts/account.js";
import type { ApiKey, ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { PasswordLink } from "../../../domain/accounts/password.js";
import type { Session } from "../../../domain/accounts/session.js";
import type { Spending } from "../../../domain/credits/budget.js";
import type { Credits } from "../../../domain/credits/credits.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import type { PaidOrder } from "../../../domain/credits/order.js";
import type { AccountId } from "../../../domain/ids.js";
import type { NotFound } from "../../errors.js";

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

/** Stores login sessions. Throws if the store is unreachable or a row is unreadable. */
export interface SessionStore {
  /**
   * Stores the session if its account has the password with this hash, and returns whether it has. So a login that
   * began before the password was changed opens no session afterwards. Ends the oldest sessions of the account above
   * `SESSIONS_MAX`.
   */
  insert(session: Session, passwordHash: string): Promise<boolean>;
  find(tokenSha256: string): Promise<Session | undefined>;
  /** Succeeds if there is no such session. */
  delete(tokenSha256: string): Promise<void>;
  /** Deletes the sessions that expired before `now`. */
  deleteExpired(now: Date): Promise<void>;
}

/** Stores API keys, without their secrets. Throws if the store is unreachable or a row is unreadable. */
export interface ApiKeyStore {
  /**
   * Inserts the key if `decide` allows it, given the number of the account's keys that are not revoked. The account is
   * locked, so that concurrent keys are counted. Throws if the account does not exist.
   */
  insert<Refusal>(key: ApiKey, decide: (liveKeys: number) => Result<void, Refusal>): Promise<Result<void, Refusal>>;
  /** All keys of the account, oldest first, including revoked ones. */
  list(account: AccountId): Promise<ApiKey[]>;
  /** The account's keys that are not revoked, newest first. */
  listLive(account: AccountId): Promise<ApiKey[]>;
  /** Revokes the key as of `now`. A key that is already revoked keeps its first revocation date. */
  revoke(id: ApiKeyId, now: Date): Promise<Result<void, NotFound>>;
  /**
   * What the account's keys have spent in the day and month of `now`. Keys without spending in that month are missing.
   */
  spending(account: AccountId, now: Date): Promise<ReadonlyMap<ApiKeyId, Spending>>;
  /** Stores the times of the last uses. A later time that is stored already stays; unknown keys are ignored. */
  recordUses(uses: ReadonlyMap<ApiKeyId, Date>): Promise<void>;
}
