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
import type { Access, AccessRefused } from "./access.js";

/** Another account has this address. */
export type EmailTaken = { readonly kind: "email_taken"; readonly email: Email };

/** Optional contents of a new account. */
export type InitialContents = {
  readonly passwordHash?: string | undefined;
  readonly order?: PaidOrder | undefined;
  readonly key?: ApiKey | undefined;
  /** Ledger entry of the welcome credits. */
  readonly welcome?: LedgerEntry | undefined;
};

/** Stores accounts. Throws if the store is unreachable or a row is unreadable. */
export interface AccountStore {
  /**
   * Stores a new account, its initial contents and the ledger entry of its order in one transaction. Stores nothing if
   * the e-mail address is taken.
   */
  open(account: Account, beginsWith?: InitialContents): Promise<Result<void, EmailTaken>>;
  isEmpty(): Promise<boolean>;
  exists(id: AccountId): Promise<boolean>;
  find(id: AccountId): Promise<Account | undefined>;
  /** For a login: the account with this e-mail address, and the hash of its password if it has one. */
  findByEmail(email: Email): Promise<{ account: Account; passwordHash: string | undefined } | undefined>;
  /**
   * Replaces the password if its stored hash is `current`. Deletes all sessions, links and e-mails with links of the
   * account in the same transaction. Returns true if replaced.
   */
  replacePassword(id: AccountId, current: string, next: string): Promise<boolean>;
  /** The low-balance threshold (domain/credits/standing.ts); `undefined`: none. Throws for an unknown id. */
  lowBalance(id: AccountId): Promise<Credits | undefined>;
  /** Sets the low-balance threshold; `undefined`: the owner gets no notice. */
  setLowBalance(id: AccountId, threshold: Credits | undefined): Promise<Result<void, NotFound>>;
}

/** The link is unknown, was used, or has expired. */
export type LinkExpired = { readonly kind: "link_expired" };

/** Input of `redeem`. */
export type Redemption = {
  readonly passwordHash: string;
  /** Id of the account to open, if the e-mail address has none. */
  readonly newAccountId: AccountId;
  /** Ledger entry of the welcome credits. */
  readonly welcome?: LedgerEntry | undefined;
};

/**
 * Stores links that set a password or confirm an address. Throws if the store is unreachable or a row is unreadable.
 */
export interface PasswordLinkStore {
  /**
   * Stores the link and deletes expired links. Returns `false` and stores nothing if the e-mail address already has
   * `liveMax` valid links; concurrent calls may exceed that number.
   */
  insert(link: PasswordLink, now: Date, liveMax: number): Promise<boolean>;
  /** The e-mail address of a link that has not expired. */
  find(tokenSha256: string, now: Date): Promise<Email | undefined>;
  /**
   * Sets the password of the link's e-mail address. Deletes all links of the address and all sessions of its account in
   * the same transaction. Opens an account if the address has none. Returns the account's id. A link works once, and
   * not for a closed account.
   */
  redeem(tokenSha256: string, redemption: Redemption, now: Date): Promise<Result<AccountId, LinkExpired>>;
  /**
   * Sets the account's e-mail address to the address of the link. Deletes all links and e-mails of both addresses in
   * the same transaction. Returns the old address. Changes nothing if another account has the new one. A link works
   * once, and not for a closed account. Throws if the account does not exist.
   */
  confirmEmail(tokenSha256: string, account: AccountId, now: Date): Promise<Result<Email, LinkExpired | EmailTaken>>;
}

/** Stores login sessions. Throws if the store is unreachable or a row is unreadable. */
export interface SessionStore {
  /**
   * Stores the session if `passwordHash` is still the hash of its account, and returns true. So a login that overlaps a
   * change of the password gets no session. Ends the oldest sessions of the account above `SESSIONS_MAX`.
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
   * Inserts the key if `decide` allows it. `decide` gets the number of the account's live keys, under a lock of the
   * account. Refuses a closed account, and an `access` that has ended. Throws if the account does not exist.
   */
  insert<Refusal>(
    key: ApiKey,
    decide: (liveKeys: number) => Result<void, Refusal>,
    access?: Access,
  ): Promise<Result<void, Refusal | AccessRefused>>;
  /** All keys of the account, oldest first, including revoked ones. */
  list(account: AccountId): Promise<ApiKey[]>;
  /** The account's keys that are not revoked, newest first. */
  listLive(account: AccountId): Promise<ApiKey[]>;
  /** Revokes the key as of `now`. A key that is already revoked keeps its first revocation date. */
  revoke(id: ApiKeyId, now: Date): Promise<Result<void, NotFound>>;
  /** Credits spent per key, in the UTC day and month of `now`. Omits keys without spending in that month. */
  spending(account: AccountId, now: Date): Promise<ReadonlyMap<ApiKeyId, Spending>>;
  /** Stores the times of the last uses. Keeps a stored time that is later. Ignores unknown keys. */
  recordUses(uses: ReadonlyMap<ApiKeyId, Date>): Promise<void>;
}
