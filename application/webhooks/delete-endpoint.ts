import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import type { EndpointId } from "../../domain/webhooks/webhook-endpoint.js";
import type { NotFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { EndpointStore } from "../ports/stores/endpoint-store.js";

type Ports = { readonly endpoints: Pick<EndpointStore, "delete">; readonly clock: Pick<Clock, "now"> };

/** Deletes an endpoint of the account; nothing more is sent to it. The default endpoint cannot be deleted. */
export const deleteEndpoint =
  ({ endpoints, clock }: Ports) =>
  (id: EndpointId, account: AccountId): Promise<Result<void, NotFound>> =>
    endpoints.delete(id, account, clock.now());
