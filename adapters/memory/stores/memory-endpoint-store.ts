import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { EndpointStore } from "../../../application/ports/stores/webhook-stores.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Endpoint, EndpointId, EndpointSecret } from "../../../domain/webhooks/webhook-endpoint.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Endpoints in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryEndpointStore implements EndpointStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async insert<Refusal>(
    endpoint: Endpoint,
    decide: (urls: readonly string[]) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal>> {
    this.database.account(endpoint.accountId);
    const decided = decide(this.endpointsOf(endpoint.accountId).flatMap(({ url }) => url ?? []));
    if (decided.isOk()) this.database.endpoints.set(endpoint.id, endpoint);
    return decided;
  }

  async ensureDefault(candidate: Endpoint): Promise<Endpoint> {
    const known = this.endpointsOf(candidate.accountId).find(({ url }) => url === undefined);
    if (known === undefined) this.database.endpoints.set(candidate.id, candidate);
    return known ?? candidate;
  }

  async list(account: AccountId): Promise<Endpoint[]> {
    return this.endpointsOf(account).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async rotateSecret(
    id: EndpointId,
    account: AccountId,
    secret: EndpointSecret,
    until: Date,
  ): Promise<Result<Endpoint, NotFound>> {
    return this.change(id, account, (old) => ({ ...old, secret, previous: { secret: old.secret, until } }));
  }

  async enable(id: EndpointId, account: AccountId): Promise<Result<void, NotFound>> {
    const on = this.change(id, account, (old) => ({ ...old, off: undefined, failingSince: undefined }));
    return on.map(() => undefined);
  }

  async delete(id: EndpointId, account: AccountId, now: Date): Promise<Result<void, NotFound>> {
    if (this.database.endpoints.get(id)?.url === undefined) return unknown(id);
    const deleted = this.change(id, account, (old) => ({ ...old, off: { at: now, reason: "deleted" } }));
    if (deleted.isOk()) this.database.giveUpDeliveries(id, now);
    return deleted.map(() => undefined);
  }

  private change(
    id: EndpointId,
    account: AccountId,
    next: (endpoint: Endpoint) => Endpoint,
  ): Result<Endpoint, NotFound> {
    const known = this.endpointsOf(account).find((endpoint) => endpoint.id === id);
    if (known === undefined) return unknown(id);
    const changed = next(known);
    this.database.endpoints.set(id, changed);
    return ok(changed);
  }

  private endpointsOf(account: AccountId): Endpoint[] {
    return [...this.database.endpoints.values()].filter(
      ({ accountId, off }) => accountId === account && off?.reason !== "deleted",
    );
  }
}

const unknown = (id: EndpointId) => err(notFound(`There is no endpoint ${id} on this account.`));
