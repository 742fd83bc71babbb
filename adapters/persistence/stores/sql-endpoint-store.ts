import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { EndpointStore } from "../../../application/ports/stores/webhook-stores.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Endpoint, EndpointId, EndpointSecret } from "../../../domain/webhooks/webhook-endpoint.js";
import { endpointRow, toEndpoint } from "../rows/endpoint-rows.js";
import { giveUpDeliveries } from "../rows/give-up-deliveries.js";
import { lockAccount } from "../rows/lock-account.js";
import { LISTED_ENDPOINT } from "../schema/indexed-conditions.js";
import { type Row, text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";
import { insert } from "../sql/insert.js";
import { insertion } from "../sql/statement.js";

/** The row of a deleted endpoint is kept for its deliveries. */
const IS_THERE = LISTED_ENDPOINT;

/** Endpoints of webhooks in SQLite or PostgreSQL. */
export class SqlEndpointStore implements EndpointStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  insert<Refusal>(
    endpoint: Endpoint,
    decide: (urls: readonly string[]) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal>> {
    return this.database.transaction(async (sql) => {
      await lockAccount(sql, endpoint.accountId);
      const rows = await sql(
        `select url from webhook_endpoint where account_id = ? and url is not null and ${IS_THERE}`,
        [endpoint.accountId],
      );
      const decided = decide(rows.map((row) => text(row, "url")));
      if (decided.isOk()) await insert(sql, "webhook_endpoint", endpointRow(endpoint));
      return decided;
    });
  }

  async ensureDefault(candidate: Endpoint): Promise<Endpoint> {
    const read = "select * from webhook_endpoint where account_id = ? and url is null";
    const [known] = await this.database.sql(read, [candidate.accountId]);
    if (known !== undefined) return toEndpoint(known);
    const inserted = insertion("webhook_endpoint", endpointRow(candidate));
    await this.database.sql(
      `${inserted.text} on conflict (account_id) where url is null do nothing`,
      inserted.parameters,
    );
    const [row] = await this.database.sql(read, [candidate.accountId]);
    return toEndpoint(row ?? {});
  }

  async list(account: AccountId): Promise<Endpoint[]> {
    const all = `select * from webhook_endpoint where account_id = ? and ${IS_THERE} order by id`;
    return (await this.database.sql(all, [account])).map(toEndpoint);
  }

  async rotateSecret(
    id: EndpointId,
    account: AccountId,
    secret: EndpointSecret,
    previousUntil: Date,
  ): Promise<Result<Endpoint, NotFound>> {
    const [row] = await this.database.sql(
      `update webhook_endpoint set previous_secret = secret, previous_until = ?, secret = ?
      where id = ? and account_id = ? and ${IS_THERE} returning *`,
      [previousUntil, secret, id, account],
    );
    return found(row, id).map(toEndpoint);
  }

  async enable(id: EndpointId, account: AccountId): Promise<Result<void, NotFound>> {
    const [row] = await this.database.sql(
      `update webhook_endpoint set off_at = null, off_reason = null, failing_since = null
      where id = ? and account_id = ? and ${IS_THERE} returning id`,
      [id, account],
    );
    return found(row, id).map(() => undefined);
  }

  delete(id: EndpointId, account: AccountId, now: Date): Promise<Result<void, NotFound>> {
    return this.database.transaction(async (sql) => {
      const [row] = await sql(
        `update webhook_endpoint set off_at = ?, off_reason = 'deleted'
        where id = ? and account_id = ? and url is not null and ${IS_THERE} returning id`,
        [now, id, account],
      );
      if (row !== undefined) await giveUpDeliveries(sql, id, now);
      return found(row, id).map(() => undefined);
    });
  }
}

const found = (row: Row | undefined, id: EndpointId): Result<Row, NotFound> =>
  row === undefined ? err(notFound(`There is no endpoint ${id} on this account.`)) : ok(row);
