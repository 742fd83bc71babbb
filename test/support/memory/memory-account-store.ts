import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { AccountStore, EmailTaken } from "../../../application/ports/account-store.js";
import type { Account, AccountId, Email, Standing } from "../../../domain/account.js";
import type { ApiKey, ApiKeyId } from "../../../domain/api-key.js";
import { type Credits, credits } from "../../../domain/credits.js";
import { type LedgerEntry, purchaseEntry } from "../../../domain/ledger.js";
import type { Order, OrderId, PaidOrder, PendingOrder } from "../../../domain/order.js";
import type { Task } from "../../../domain/task.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Accounts in memory. Each method does its work before it first waits, and so is atomic. */
export class MemoryAccountStore implements AccountStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async open(
    account: Account,
    passwordHash: string | undefined,
    order: PaidOrder | undefined,
    key: ApiKey | undefined,
  ): Promise<Result<void, EmailTaken>> {
    const { accounts, orders, keys } = this.database;
    for (const { account: other } of accounts.values()) {
      if (other.email === account.email) return err({ kind: "email_taken", email: account.email });
    }
    const standing = { accountId: account.id, credits: credits(0), activeTasks: 0 };
    accounts.set(account.id, { account, passwordHash, standing, lastTurn: 0 });
    if (order !== undefined) {
      orders.set(order.id, order);
      this.book(order);
    }
    if (key !== undefined) keys.set(key.id, key);
    return ok(undefined);
  }

  async isEmpty(): Promise<boolean> {
    return this.database.accounts.size === 0;
  }

  async exists(id: AccountId): Promise<boolean> {
    return this.database.accounts.has(id);
  }

  async find(id: AccountId): Promise<Account | undefined> {
    return this.database.accounts.get(id)?.account;
  }

  async findByEmail(email: Email): Promise<{ account: Account; passwordHash: string | undefined } | undefined> {
    return [...this.database.accounts.values()].find(({ account }) => account.email === email);
  }

  async credits(id: AccountId): Promise<Credits> {
    return this.database.account(id).standing.credits;
  }

  async ledger(id: AccountId): Promise<LedgerEntry[]> {
    return this.database.ledgerOf(id);
  }

  async insertOrder(order: PendingOrder): Promise<void> {
    this.database.account(order.accountId);
    this.database.orders.set(order.id, order);
  }

  async listOrders(id: AccountId): Promise<Order[]> {
    return [...this.database.orders.values()]
      .filter(({ accountId }) => accountId === id)
      .sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  async findOrder(id: OrderId): Promise<Order | undefined> {
    return this.database.orders.get(id);
  }

  async payOrder(order: PaidOrder): Promise<void> {
    if (this.database.orders.get(order.id)?.state !== "pending") return;
    this.database.orders.set(order.id, order);
    this.book(order);
  }

  async countPaidOrders(id: AccountId): Promise<number> {
    return [...this.database.orders.values()].filter((order) => order.accountId === id && order.state === "paid")
      .length;
  }

  async insertKey(key: ApiKey): Promise<void> {
    this.database.account(key.accountId);
    this.database.keys.set(key.id, key);
  }

  async findKey(secretSha256: string): Promise<ApiKey | undefined> {
    return [...this.database.keys.values()].find(
      (key) => key.secretSha256 === secretSha256 && key.revokedAt === undefined,
    );
  }

  async listKeys(id: AccountId): Promise<ApiKey[]> {
    return [...this.database.keys.values()]
      .filter(({ accountId }) => accountId === id)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async revokeKey(id: ApiKeyId, now: Date): Promise<Result<void, NotFound>> {
    const key = this.database.keys.get(id);
    if (key === undefined) return err(notFound(`There is no key ${id}.`));
    if (key.revokedAt === undefined) this.database.keys.set(id, { ...key, revokedAt: now });
    return ok(undefined);
  }

  async *ledgers(): AsyncIterable<{ standing: Standing; entries: LedgerEntry[]; tasks: Task[] }> {
    for (const [id, { standing }] of this.database.accounts) {
      yield { standing, entries: this.database.ledgerOf(id), tasks: this.database.tasksOf(id) };
    }
  }

  private book(order: PaidOrder): void {
    const account = this.database.account(order.accountId);
    const { standing } = account;
    account.standing = { ...standing, credits: credits(standing.credits + order.credits) };
    this.database.ledger.push(purchaseEntry(order));
  }
}
