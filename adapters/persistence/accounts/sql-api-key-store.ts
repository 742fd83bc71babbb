import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { Access, AccessRefused } from "../../../application/ports/stores/access.js";
import type { ApiKeyStore } from "../../../application/ports/stores/account-stores.js";
import type { ApiKey, ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { Spending } from "../../../domain/credits/budget.js";
import type { AccountId } from "../../../domain/ids.js";
import { readSpendingOfAccount } from "../credits/spending-rows.js";
import { EntityStore, inUnitOfWork, rowOf } from "../database/orm/entities.js";
import { ApiKeyTable } from "../database/orm/entity-tables.js";
import { toApiKey } from "./account-rows.js";
import { lockToBegin } from "./lock-account.js";

/** API keys in SQLite or PostgreSQL. */
export class SqlApiKeyStore extends EntityStore implements Omit<ApiKeyStore, "recordUses"> {
  insert<Refusal>(
    key: ApiKey,
    decide: (liveKeys: number) => Result<void, Refusal>,
    access?: Access,
  ): Promise<Result<void, Refusal | AccessRefused>> {
    return inUnitOfWork<void, Refusal | AccessRefused>(this.database, async (manager, sql) => {
      const locked = await lockToBegin(sql, this.database.dialect, key.accountId, access);
      if (locked.isErr()) return err(locked.error);
      const decided = decide(await manager.count(ApiKeyTable, { accountId: key.accountId, revokedAt: null }));
      if (decided.isOk()) manager.create(ApiKeyTable, apiKeyEntity(key));
      return decided;
    });
  }

  async list(accountId: AccountId): Promise<ApiKey[]> {
    const keys = await this.entities.find(ApiKeyTable, { accountId }, { orderBy: { id: "asc" } });
    return keys.map((key) => toApiKey(rowOf(ApiKeyTable, key)));
  }

  async listLive(accountId: AccountId): Promise<ApiKey[]> {
    const live = { accountId, revokedAt: null };
    const keys = await this.entities.find(ApiKeyTable, live, { orderBy: { id: "desc" } });
    return keys.map((key) => toApiKey(rowOf(ApiKeyTable, key)));
  }

  async revoke(id: ApiKeyId, now: Date): Promise<Result<void, NotFound>> {
    const revoked = await this.entities.nativeUpdate(ApiKeyTable, { id, revokedAt: null }, { revokedAt: now });
    const isKnown = revoked > 0 || (await this.entities.count(ApiKeyTable, { id })) > 0;
    return isKnown ? ok(undefined) : err(notFound(`There is no key ${id}.`));
  }

  spending(account: AccountId, now: Date): Promise<ReadonlyMap<ApiKeyId, Spending>> {
    return readSpendingOfAccount(this.database.sql, account, now);
  }
}

/** A new key as an entity. */
export const apiKeyEntity = ({ limits, ...key }: ApiKey) => ({
  ...key,
  ...limits,
  scopes: limits.scopes.join(","),
});
