import { type InferEntity, LockMode, raw } from "@mikro-orm/core";
import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { Access, AccessRefused } from "../../../application/ports/stores/access.js";
import type { EndpointStore } from "../../../application/ports/stores/webhook-stores.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Endpoint, EndpointId, EndpointSecret } from "../../../domain/webhooks/webhook-endpoint.js";
import { lockToBegin } from "../accounts/lock-account.js";
import { EntityStore, inUnitOfWork, rowOf } from "../database/orm/entities.js";
import { WebhookEndpointTable } from "../database/orm/entity-tables.js";
import { LISTED_ENDPOINT } from "../database/schema/indexed-conditions.js";
import { text } from "../database/sql/columns.js";
import { giveUpDeliveries } from "./give-up-deliveries.js";
import { endpointEntity, toEndpoint as toEndpointOf } from "./webhook-rows.js";

/** Endpoints of webhooks in SQLite or PostgreSQL. */
export class SqlEndpointStore extends EntityStore implements Omit<EndpointStore, "ensureDefault"> {
  insert<Refusal>(
    endpoint: Endpoint,
    decide: (urls: readonly string[]) => Result<void, Refusal>,
    access?: Access,
  ): Promise<Result<void, Refusal | AccessRefused>> {
    const { accountId } = endpoint;
    return inUnitOfWork<void, Refusal | AccessRefused>(this.database, async (manager, sql) => {
      const locked = await lockToBegin(sql, this.database.dialect, accountId, access);
      if (locked.isErr()) return err(locked.error);
      const listed = { accountId, url: { $ne: null }, ...listedFilter() };
      const endpoints = await manager.find(WebhookEndpointTable, listed);
      const decided = decide(endpoints.map((one) => text(one, "url")));
      if (decided.isOk()) manager.create(WebhookEndpointTable, endpointEntity(endpoint));
      return decided;
    });
  }

  async list(accountId: AccountId): Promise<Endpoint[]> {
    const listed = { accountId, ...listedFilter() };
    const endpoints = await this.entities.find(WebhookEndpointTable, listed, { orderBy: { id: "asc" } });
    return endpoints.map(toEndpoint);
  }

  rotateSecret(
    id: EndpointId,
    accountId: AccountId,
    secret: EndpointSecret,
    previousUntil: Date,
  ): Promise<Result<Endpoint, NotFound>> {
    return inUnitOfWork(this.database, async (manager) => {
      const lock = { lockMode: LockMode.PESSIMISTIC_WRITE };
      const endpoint = await manager.findOne(WebhookEndpointTable, { id, accountId, ...listedFilter() }, lock);
      if (endpoint === null) return err(unknown(id));
      Object.assign(endpoint, { previousSecret: endpoint.secret, previousUntil, secret });
      return ok(toEndpoint(endpoint));
    });
  }

  async enable(id: EndpointId, accountId: AccountId): Promise<Result<void, NotFound>> {
    const on = { offAt: null, offReason: null, failingSince: null };
    const listed = () => ({ id, accountId, ...listedFilter() }); // a raw condition serves one query
    // One that is on keeps the time since when it fails.
    const enabled = await this.entities.nativeUpdate(WebhookEndpointTable, { ...listed(), offAt: { $ne: null } }, on);
    const isKnown = enabled > 0 || (await this.entities.count(WebhookEndpointTable, listed())) > 0;
    return isKnown ? ok(undefined) : err(unknown(id));
  }

  delete(id: EndpointId, accountId: AccountId, now: Date): Promise<Result<void, NotFound>> {
    return inUnitOfWork(this.database, async (manager, sql) => {
      const listed = { id, accountId, url: { $ne: null }, ...listedFilter() };
      const off = { offAt: now, offReason: "deleted" };
      if ((await manager.nativeUpdate(WebhookEndpointTable, listed, off)) === 0) return err(unknown(id));
      await giveUpDeliveries(sql, id, now);
      return ok(undefined);
    });
  }
}

/** The row of a deleted endpoint is kept for its deliveries. */
const listedFilter = () => ({ [raw(LISTED_ENDPOINT)]: [] });

const toEndpoint = (endpoint: InferEntity<typeof WebhookEndpointTable>): Endpoint =>
  toEndpointOf(rowOf(WebhookEndpointTable, endpoint));

const unknown = (id: EndpointId): NotFound => notFound(`There is no endpoint ${id} on this account.`);
