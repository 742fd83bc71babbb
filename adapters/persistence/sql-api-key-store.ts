import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type { ApiKeyStore } from "../../application/ports/api-key-store.js";
import type { AccountId } from "../../domain/account.js";
import type { ApiKey, ApiKeyId } from "../../domain/api-key.js";
import { apiKeyRow, toApiKey } from "./account-rows.js";
import type { Database } from "./database.js";
import { insertIfAllowed } from "./insert-if-allowed.js";
import { insertion } from "./statement.js";

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
    return insertIfAllowed(this.database, key.accountId, count, decide, insertion("api_key", apiKeyRow(key)));
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
}
