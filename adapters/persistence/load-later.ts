import type {
  AccountStore,
  ApiKeyStore,
  PasswordLinkStore,
  SessionStore,
} from "../../application/ports/stores/account-stores.js";
import type { EmailOutbox } from "../../application/ports/stores/email-outbox.js";
import type { OperatorLog } from "../../application/ports/stores/operator-log.js";
import type { EndpointStore } from "../../application/ports/stores/webhook-stores.js";
import type { AccountReads } from "./accounts/visitor-rows.js";

/** The stores of entities, without what has to be read before they are loaded. Names no type of the ORM. */
export type EntityStores = {
  readonly accounts: Omit<AccountStore, keyof AccountReads>;
  readonly keys: Omit<ApiKeyStore, "recordUses">;
  readonly sessions: Omit<SessionStore, "find">;
  readonly links: PasswordLinkStore;
  readonly endpoints: Omit<EndpointStore, "ensureDefault">;
  readonly operatorLog: Omit<OperatorLog, "deleteBefore">;
  readonly emailOutbox: EmailOutbox;
};

/**
 * A store of entities whose module is loaded when one of its methods is called, but for those in `now`. A start, a poll
 * and a creation need none of them, and the ORM takes a third of the time and of the memory of a start. All methods
 * return promises.
 */
export function loadLater<Name extends keyof EntityStores, Now extends object = object>(
  load: () => Promise<EntityStores>,
  name: Name,
  now?: Now,
): EntityStores[Name] & Now {
  return new Proxy((now ?? {}) as EntityStores[Name] & Now, {
    get: (there, method, self) => {
      if (method in there || typeof method === "symbol") return Reflect.get(there, method, self);
      if (method === "then") return undefined; // it is no promise
      return async (...parameters: readonly unknown[]) => {
        const store: object = (await load())[name];
        return Reflect.apply(Reflect.get(store, method), store, parameters);
      };
    },
  });
}
