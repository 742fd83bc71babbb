import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { AccountBeginning, AccountStore, EmailTaken } from "../../../application/ports/stores/account-stores.js";
import type { Account, Email } from "../../../domain/accounts/account.js";
import { type Credits, credits } from "../../../domain/credits/credits.js";
import type { AccountId } from "../../../domain/ids.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Accounts in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryAccountStore implements AccountStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async open(
    account: Account,
    { passwordHash, order, key, welcome }: AccountBeginning = {},
  ): Promise<Result<void, EmailTaken>> {
    const { accounts, keys } = this.database;
    for (const { account: other } of accounts.values()) {
      if (other.email === account.email) return err({ kind: "email_taken", email: account.email });
    }
    const standing = { accountId: account.id, credits: credits(welcome?.credits ?? 0), activeTasks: 0 };
    accounts.set(account.id, { account, passwordHash, standing, lastTurn: 0 });
    if (welcome !== undefined) this.database.ledger.push(welcome);
    if (order !== undefined) this.database.recordPurchase(order);
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
    const stored = [...this.database.accounts.values()].find(({ account }) => account.email === email);
    return stored && { account: stored.account, passwordHash: stored.passwordHash };
  }

  async replacePassword(id: AccountId, current: string, next: string): Promise<boolean> {
    const stored = this.database.accounts.get(id);
    if (stored?.passwordHash !== current) return false;
    this.database.changePassword(stored, next);
    return true;
  }

  async lowBalance(id: AccountId): Promise<Credits | undefined> {
    return this.database.account(id).standing.lowBalanceThreshold;
  }

  async setLowBalance(id: AccountId, lowBalanceThreshold: Credits | undefined): Promise<Result<void, NotFound>> {
    const stored = this.database.accounts.get(id);
    if (stored === undefined) return err(notFound(`There is no account ${id}.`));
    stored.standing = { ...stored.standing, lowBalanceThreshold };
    return ok(undefined);
  }
}
