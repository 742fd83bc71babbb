import type { AccountId } from "../../domain/account.js";
import type { Endpoint } from "../../domain/webhook-endpoint.js";
import type { EndpointStore } from "../ports/endpoint-store.js";
import { type NewEndpointPorts, newEndpoint } from "./new-endpoint.js";

type Ports = NewEndpointPorts & { readonly endpoints: Pick<EndpointStore, "ensureDefault"> };

/** What `ensureDefaultEndpoint` returns. */
export type EnsureDefaultEndpoint = ReturnType<typeof ensureDefaultEndpoint>;

/** The account's default endpoint, whose secret signs the webhooks to the `webhook_url` of its tasks. */
export const ensureDefaultEndpoint =
  (ports: Ports) =>
  (account: AccountId): Promise<Endpoint> =>
    ports.endpoints.ensureDefault(newEndpoint(ports, account, undefined));
