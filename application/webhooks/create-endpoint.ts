import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import type { InvalidRequest } from "../../domain/invalid-request.js";
import {
  admitEndpointAt,
  type Endpoint,
  parseEndpointUrl,
  type TooManyEndpoints,
} from "../../domain/webhooks/webhook-endpoint.js";
import { type NotFound, notFound } from "../errors.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { EndpointStore } from "../ports/stores/endpoint-store.js";
import { type NewEndpointPorts, newEndpoint } from "./new-endpoint.js";

type Ports = NewEndpointPorts & {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly endpoints: Pick<EndpointStore, "insert">;
};

/** `privateOrigins`: origins to which webhooks may be sent although they use http or have a private address. */
export type EndpointSettings = { readonly privateOrigins: readonly string[] };

/** Adds an endpoint to the account. It gets every event from now on. */
export const createEndpoint =
  (ports: Ports, { privateOrigins }: EndpointSettings) =>
  async (account: AccountId, url: string): Promise<Result<Endpoint, InvalidRequest | TooManyEndpoints | NotFound>> => {
    const parsed = parseEndpointUrl(url, privateOrigins);
    if (parsed.isErr()) return err(parsed.error);
    if (!(await ports.accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
    const endpoint = newEndpoint(ports, account, parsed.value);
    const inserted = await ports.endpoints.insert(endpoint, (urls) => admitEndpointAt(parsed.value, urls));
    return inserted.isErr() ? err(inserted.error) : ok(endpoint);
  };
