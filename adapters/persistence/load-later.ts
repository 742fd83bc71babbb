import type { EntityStores } from "./entity-stores.js";

/** A method of a store. All of them return promises. */
type Method = (...parameters: readonly unknown[]) => unknown;

/**
 * A store of entities whose module is loaded when one of its methods is called, but for those in `now`. A start, a poll
 * and a creation need none of them, and the ORM takes a third of the time and of the memory of a start.
 */
export function loadLater<Name extends keyof EntityStores, Now extends object = object>(
  load: () => Promise<EntityStores>,
  name: Name,
  now?: Now,
): EntityStores[Name] & Now {
  const methodOf = (store: EntityStores[Name], method: string) => (store as unknown as Record<string, Method>)[method];
  return new Proxy((now ?? {}) as EntityStores[Name] & Now, {
    get: (there, method, self) => {
      if (method in there || typeof method === "symbol") return Reflect.get(there, method, self);
      if (method === "then") return undefined; // it is no promise
      return async (...parameters: readonly unknown[]) => {
        const store = (await load())[name];
        return methodOf(store, method)?.apply(store, [...parameters]);
      };
    },
  });
}
