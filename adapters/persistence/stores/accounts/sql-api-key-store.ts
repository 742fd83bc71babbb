import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../../application/errors.js";
import type { ApiKeyStore } from "../../../../application/ports/stores/account-stores.js";
import type { ApiKey, ApiKeyId } from "../../../../domain/accounts/api-key.js";
import type { Spending } from "../../../../domain/credits/budget.js";
import type { AccountId } from "../../../../domain/ids.js";
import { apiKeyRow, toApiKey } from "../../rows/account-rows.js";
import { insertIfAllowed } from "../../rows/insert-if-allowed.js";
import { readSpendingOfAccount } from "../../rows/spending-rows.js";
import type { Database, Sql } from "../../sql/database.js";
import { insertion } from "../../sql/statement.js";

/** Keys per transaction that stores their last uses. */
const USES_MAX = 500;

/** API keys in SQLite or PostgreSQL. */
export class SqlApiKeyStore implements ApiKeyStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  insert<Refusal>(key: ApiKey, decide: (liveKeys: number) => Result<void, Refusal>): Promise<Result<void, Refusal>> {
    const count = {
      text: "select cast(count(*) as integer) as counted from api_key where account_id = ? and revoked_at is null",
      parameters: [key.accountId],
    };
    const statements = { count, insertion: insertion("api_key", apiKeyRow(key)) };
    return insertIfAllowed(this.database, key.accountId, statements, decide);
  }

  async list(account: AccountId): Promise<ApiKey[]> {
    const rows = await this.database.sql("select * from api_key where account_id = ? order by id", [account]);
    return rows.map(toApiKey);
  }

  async listLive(account: AccountId): Promise<ApiKey[]> {
    const live = "select * from api_key where account_id = ? and revoked_at is null order by id desc";
    return (await this.database.sql(live, [account])).map(toApiKey);
  }

  async revoke(id: ApiKeyId, now: Date): Promise<Result<void, NotFound>> {
    const revoke = "update api_key set revoked_at = coalesce(revoked_at, ?) where id = ? returning id";
    const revoked = await this.database.sql(revoke, [now, id]);
    return revoked.length === 1 ? ok(undefined) : err(notFound(`There is no key ${id}.`));
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
