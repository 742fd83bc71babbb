import type { AccountId } from "../../domain/ids.js";
import type { Clock } from "../ports/clock.js";
import type { ApiKeyStore } from "../ports/stores/account-stores.js";
import type { EndpointStore } from "../ports/stores/webhook-stores.js";

type Ports = {
  readonly keys: Pick<ApiKeyStore, "listLive" | "revoke">;
  readonly endpoints: Pick<EndpointStore, "list" | "delete">;
  readonly clock: Pick<Clock, "now">;
};

/** What a new password does not end, and somebody else may have made: live API keys, and endpoints with a URL. */
export function lastingAccess({ keys, endpoints, clock }: Ports) {
  const list = async (account: AccountId) => {
    const listed = await endpoints.list(account);
    return { keys: await keys.listLive(account), endpoints: listed.filter(({ url }) => url !== undefined) };
  };
  return {
    /** How many there are; `undefined` without any. */
    async countLastingAccess(account: AccountId) {
      const lasting = await list(account);
      const counted = { keys: lasting.keys.length, endpoints: lasting.endpoints.length };
      return counted.keys + counted.endpoints > 0 ? counted : undefined;
    },
    async endLastingAccess(account: AccountId): Promise<void> {
      const lasting = await list(account);
      const now = clock.now();
      for (const { id } of lasting.keys) await keys.revoke(id, now);
      for (const { id } of lasting.endpoints) await endpoints.delete(id, account, now);
    },
  };
}
