import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import { type Endpoint, type EndpointId, SECRET_OVERLAP_MILLISECONDS } from "../../domain/webhooks/webhook-endpoint.js";
import type { NotFound } from "../errors.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";
import type { EndpointStore } from "../ports/stores/endpoint-store.js";

type Ports = {
  readonly endpoints: Pick<EndpointStore, "rotateSecret">;
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "endpointSecret">;
};

/** Gives the endpoint a new secret. For 24 hours webhooks are signed with the old one too. */
export const rotateEndpointSecret =
  ({ endpoints, clock, ids }: Ports) =>
  (id: EndpointId, account: AccountId): Promise<Result<Endpoint, NotFound>> => {
    const previousUntil = new Date(clock.now().getTime() + SECRET_OVERLAP_MILLISECONDS);
    return endpoints.rotateSecret(id, account, ids.endpointSecret(), previousUntil);
  };
