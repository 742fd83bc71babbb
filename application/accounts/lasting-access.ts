import type { AccountId } from "../../domain/ids.js";
import type { Clock } from "../ports/clock.js";
import type { ApiKeyStore } from "../ports/stores/account-stores.js";
import type { EndpointStore } from "../ports/stores/webhook-stores.js";

type ReadPorts = {
  readonly keys: Pick<ApiKeyStore, "listLive">;
  readonly endpoints: Pick<EndpointStore, "list">;
};

type EndPorts = ReadPorts & {
  readonly keys: Pick<ApiKeyStore, "revoke">;
  readonly endpoints: Pick<EndpointStore, "delete">;
  readonly clock: Pick<Clock, "now">;
};

/** The API keys and the endpoints with a URL, which a new password does not end: somebody else may have made them. */
export const readLastingAccess = ({ keys, endpoints }: ReadPorts) =>
  async function lasting(account: AccountId) {
    const listed = await endpoints.list(account);
    return { keys: await keys.listLive(account), endpoints: listed.filter(({ url }) => url !== undefined) };
  };

/** Revokes these keys and deletes these endpoints. */
export const endLastingAccess = (ports: EndPorts) =>
  async function end(account: AccountId): Promise<void> {
    const { keys, endpoints } = await readLastingAccess(ports)(account);
    const now = ports.clock.now();
    for (const { id } of keys) await ports.keys.revoke(id, now);
    for (const { id } of endpoints) await ports.endpoints.delete(id, account, now);
  };
