import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../../domain/ids.js";
import type { Endpoint } from "../../domain/webhooks/webhook-endpoint.js";
import { type NotFound, notFound } from "../errors.js";
import type { AccountStore } from "../ports/stores/accounts/account-store.js";
import type { EndpointStore } from "../ports/stores/endpoint-store.js";
import { ensureDefaultEndpoint } from "./ensure-default-endpoint.js";
import type { NewEndpointPorts } from "./new-endpoint.js";

type Ports = NewEndpointPorts & {
  readonly accounts: Pick<AccountStore, "exists">;
  readonly endpoints: Pick<EndpointStore, "ensureDefault" | "list">;
};

/** The account's endpoints, oldest first, with the default endpoint, which has no URL. */
export const listEndpoints =
  (ports: Ports) =>
  async (account: AccountId): Promise<Result<readonly Endpoint[], NotFound>> => {
    if (!(await ports.accounts.exists(account))) return err(notFound(`There is no account ${account}.`));
    await ensureDefaultEndpoint(ports)(account);
    return ok(await ports.endpoints.list(account));
  };
