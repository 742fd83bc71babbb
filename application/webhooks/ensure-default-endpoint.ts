import type { AccountId } from "../../domain/ids.js";
import type { Endpoint } from "../../domain/webhooks/webhook-endpoint.js";
import type { EndpointStore } from "../ports/stores/endpoint-store.js";
import { type NewEndpointPorts, newEndpoint } from "./new-endpoint.js";

type Ports = NewEndpointPorts & { readonly endpoints: Pick<EndpointStore, "ensureDefault"> };

/** The account's default endpoint, whose secret signs the webhooks to the `webhook_url` of its tasks. */
export const ensureDefaultEndpoint =
  (ports: Ports) =>
  (account: AccountId): Promise<Endpoint> =>
    ports.endpoints.ensureDefault(newEndpoint(ports, account, undefined));
