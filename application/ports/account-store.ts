import type { Result } from "neverthrow";
import type { Account, AccountId, Email, Standing } from "../../domain/account.js";
import type { ApiKey, ApiKeyId } from "../../domain/api-key.js";
import type { Credits } from "../../domain/credits.js";
import type { LedgerEntry } from "../../domain/ledger.js";
import type { Order, OrderId, PaidOrder, PendingOrder } from "../../domain/order.js";
import type { Task } from "../../domain/task.js";
import type { NotFound } from "../errors.js";

export type EmailTaken = { readonly kind: "email_taken"; readonly email: Email };

/** Where accounts, their orders, keys and ledger live. An unreachable store or an unreadable row is thrown. */
export interface AccountStore {
  /** Stores a new account, with a paid order (and its ledger entry) and a key if they are given: all of it or nothing. */
  open(
    account: Account,
    passwordHash: string | undefined,
    order: PaidOrder | undefined,
    key: ApiKey | undefined,
  ): Promise<Result<void, EmailTaken>>;
  isEmpty(): Promise<boolean>;
  exists(id: AccountId): Promise<boolean>;

  find(id: AccountId): Promise<Account | undefined>;
  /** For a login: the account of this address, and its password's hash if it has one. */
  findByEmail(email: Email): Promise<{ account: Account; passwordHash: string | undefined } | undefined>;

  credits(id: AccountId): Promise<Credits>;
  /** Oldest first. */
  ledger(id: AccountId): Promise<LedgerEntry[]>;

  insertOrder(order: PendingOrder): Promise<void>;
  /** Newest first. */
  listOrders(id: AccountId): Promise<Order[]>;
  findOrder(id: OrderId): Promise<Order | undefined>;
  /** Stores the paid order, its ledger entry and its credits if the stored order is still pending; else does nothing. */
  payOrder(order: PaidOrder): Promise<void>;
  countPaidOrders(id: AccountId): Promise<number>;

  insertKey(key: ApiKey): Promise<void>;
  /** The key with this digest, if it is not revoked. */
  findKey(secretSha256: string): Promise<ApiKey | undefined>;
  /** Oldest first, revoked ones included. */
  listKeys(id: AccountId): Promise<ApiKey[]>;
  /** Revokes the key from now on; one that is revoked already keeps its date. */
  revokeKey(id: ApiKeyId, now: Date): Promise<Result<void, NotFound>>;

  /** Every account's ledger, each read in one consistent view, for the audit. */
  ledgers(): AsyncIterable<{ standing: Standing; entries: LedgerEntry[]; tasks: Task[] }>;
}
