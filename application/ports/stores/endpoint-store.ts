import type { Result } from "neverthrow";
import type { AccountId } from "../../../domain/ids.js";
import type { Endpoint, EndpointId, EndpointSecret } from "../../../domain/webhooks/webhook-endpoint.js";
import type { NotFound } from "../../errors.js";

/**
 * Stores the endpoints of accounts. An endpoint of another account and a deleted one give the same error as an unknown
 * id. Throws if the store is unreachable or a row is unreadable.
 */
export interface EndpointStore {
  /**
   * Inserts the endpoint if `decide` allows it, given the URLs of the account's endpoints. The account is locked, so
   * that concurrent endpoints are seen. Throws if the account does not exist.
   */
  insert<Refusal>(
    endpoint: Endpoint,
    decide: (urls: readonly string[]) => Result<void, Refusal>,
  ): Promise<Result<void, Refusal>>;
  /** Returns the account's default endpoint. Inserts `candidate` as that if there is none. */
  ensureDefault(candidate: Endpoint): Promise<Endpoint>;
  /** The account's endpoints, oldest first, also those that are switched off. */
  list(account: AccountId): Promise<Endpoint[]>;
  /** Makes `secret` the endpoint's secret. The one before stays valid until `previousUntil`. Returns the endpoint. */
  rotateSecret(
    id: EndpointId,
    account: AccountId,
    secret: EndpointSecret,
    previousUntil: Date,
  ): Promise<Result<Endpoint, NotFound>>;
  /** Switches an endpoint on again. Does nothing if it is on. */
  enable(id: EndpointId, account: AccountId): Promise<Result<void, NotFound>>;
  /** Deletes an endpoint with a URL, and gives up its pending deliveries. */
  delete(id: EndpointId, account: AccountId, now: Date): Promise<Result<void, NotFound>>;
}
