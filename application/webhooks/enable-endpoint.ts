import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import type { EndpointId } from "../../domain/webhooks/webhook-endpoint.js";
import type { NotFound } from "../errors.js";
import type { EndpointStore } from "../ports/stores/endpoint-store.js";

/** Switches an endpoint on again. It gets the events from now on; earlier ones can be sent again one by one. */
export const enableEndpoint =
  ({ endpoints }: { readonly endpoints: Pick<EndpointStore, "enable"> }) =>
  (id: EndpointId, account: AccountId): Promise<Result<void, NotFound>> =>
    endpoints.enable(id, account);
