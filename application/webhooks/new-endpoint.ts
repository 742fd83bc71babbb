import type { AccountId } from "../../domain/ids.js";
import type { Endpoint } from "../../domain/webhooks/webhook-endpoint.js";
import type { Clock } from "../ports/clock.js";
import type { Ids } from "../ports/ids.js";

/** What a new endpoint needs. */
export type NewEndpointPorts = {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "endpointId" | "endpointSecret">;
};

/** Makes an endpoint with a new secret. Stores nothing. */
export const newEndpoint = (
  { clock, ids }: NewEndpointPorts,
  accountId: AccountId,
  url: string | undefined,
): Endpoint => ({
  id: ids.endpointId(),
  accountId,
  url,
  secret: ids.endpointSecret(),
  previous: undefined,
  createdAt: clock.now(),
  failingSince: undefined,
  off: undefined,
});
