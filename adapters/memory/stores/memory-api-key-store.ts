import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { ApiKeyStore } from "../../../application/ports/stores/account-stores.js";
import type { ApiKey, ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { Spending } from "../../../domain/credits/budget.js";
import type { AccountId } from "../../../domain/ids.js";
import type { MemoryDatabase } from "./memory-database.js";

/** API keys in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryApiKeyStore implements ApiKeyStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async insert<Refusal>(
    key: ApiKey,
    decide: (liveKeys: number) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal>> {
    this.database.account(key.accountId);
    const decided = decide(this.liveKeysOf(key.accountId).length);
    if (decided.isOk()) this.database.keys.set(key.id, key);
    return decided;
  }

  async list(account: AccountId): Promise<ApiKey[]> {
    return [...this.database.keys.values()]
      .filter(({ accountId }) => accountId === account)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async listLive(account: AccountId): Promise<ApiKey[]> {
    return this.liveKeysOf(account).sort((a, b) => (a.id < b.id ? 1 : -1));
  }

  async revoke(id: ApiKeyId, now: Date): Promise<Result<void, NotFound>> {
    const key = this.database.keys.get(id);
    if (key === undefined) return err(notFound(`There is no key ${id}.`));
    if (key.revokedAt === undefined) this.database.keys.set(id, { ...key, revokedAt: now });
    return ok(undefined);
  }

  async spending(account: AccountId, now: Date): Promise<ReadonlyMap<ApiKeyId, Spending>> {
    const all = (await this.list(account)).map(({ id }) => [id, this.database.spendingOf(id, now)] as const);
    return new Map(all.filter(([, { thisMonth }]) => thisMonth > 0));
  }

  async recordUses(uses: ReadonlyMap<ApiKeyId, Date>): Promise<void> {
    for (const [id, lastUsedAt] of uses) {
      const key = this.database.keys.get(id);
      if (key === undefined || (key.lastUsedAt !== undefined && key.lastUsedAt >= lastUsedAt)) continue;
      this.database.keys.set(id, { ...key, lastUsedAt });
    }
  }

  private liveKeysOf(account: AccountId): ApiKey[] {
    return [...this.database.keys.values()].filter(
      ({ accountId, revokedAt }) => accountId === account && revokedAt === undefined,
    );
  }
}
