import { LockMode } from "@mikro-orm/core";
import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../../application/errors.js";
import type { ApiKeyStore } from "../../../../application/ports/stores/account-stores.js";
import type { ApiKey, ApiKeyId } from "../../../../domain/accounts/api-key.js";
import type { Spending } from "../../../../domain/credits/budget.js";
import type { AccountId } from "../../../../domain/ids.js";
import { entitiesOf, inUnitOfWork } from "../../orm/entities.js";
import { lockAccount } from "../../prepared/lock-account.js";
import { readSpendingOfAccount } from "../../prepared/spending-rows.js";
import { newApiKey, toApiKey } from "../../rows/account-rows.js";
import { ApiKeyTable } from "../../schema/schema.js";
import type { Database, Sql } from "../../sql/database.js";

/** Keys per transaction that stores their last uses. */
const USES_MAX = 500;

/** API keys in SQLite or PostgreSQL. */
export class SqlApiKeyStore implements ApiKeyStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  insert<Refusal>(key: ApiKey, decide: (liveKeys: number) => Result<void, Refusal>): Promise<Result<void, Refusal>> {
    return inUnitOfWork(this.database, async (manager, sql) => {
      await lockAccount(sql, key.accountId);
      const decided = decide(await manager.count(ApiKeyTable, { accountId: key.accountId, revokedAt: null }));
      if (decided.isOk()) manager.create(ApiKeyTable, newApiKey(key));
      return decided;
    });
  }

  async list(accountId: AccountId): Promise<ApiKey[]> {
    const keys = await entitiesOf(this.database).find(ApiKeyTable, { accountId }, { orderBy: { id: "asc" } });
    return keys.map(toApiKey);
  }

  async listLive(accountId: AccountId): Promise<ApiKey[]> {
    const live = { accountId, revokedAt: null };
    const keys = await entitiesOf(this.database).find(ApiKeyTable, live, { orderBy: { id: "desc" } });
    return keys.map(toApiKey);
  }

  revoke(id: ApiKeyId, now: Date): Promise<Result<void, NotFound>> {
    return inUnitOfWork(this.database, async (manager) => {
      const key = await manager.findOne(ApiKeyTable, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (key === null) return err(notFound(`There is no key ${id}.`));
      key.revokedAt ??= now;
      return ok(undefined);
    });
  }

  spending(account: AccountId, now: Date): Promise<ReadonlyMap<ApiKeyId, Spending>> {
    return readSpendingOfAccount(this.database.sql, account, now);
  }

  async recordUses(uses: ReadonlyMap<ApiKeyId, Date>): Promise<void> {
    const all = [...uses];
    for (let start = 0; start < all.length; start += USES_MAX) {
      const some = all.slice(start, start + USES_MAX);
      // A transaction, because it is repeated after a deadlock: another instance may write the same keys in another
      // order.
      await this.database.transaction<void, never>(async (sql) => {
        if (this.database.dialect === "sqlite") await recordOneByOne(sql, some);
        else await recordAtOnce(sql, some);
        return ok(undefined);
      });
    }
  }
}

type Uses = readonly (readonly [id: ApiKeyId, at: Date])[];

/** In one round trip. */
const recordAtOnce = (sql: Sql, uses: Uses): Promise<unknown> =>
  sql(
    `with used (id, at) as (values ${uses.map(() => "(cast(? as text), cast(? as timestamptz))").join(", ")})
    update api_key set last_used_at = used.at from used
    where api_key.id = used.id and (last_used_at is null or last_used_at < used.at)`,
    uses.flat(),
  );

/** SQLite would read the whole table for such a statement, and has no round trips. */
const recordOneByOne = async (sql: Sql, uses: Uses): Promise<void> => {
  for (const [id, at] of uses) {
    await sql("update api_key set last_used_at = ? where id = ? and (last_used_at is null or last_used_at < ?)", [
      at,
      id,
      at,
    ]);
  }
};
