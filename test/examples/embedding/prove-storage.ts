// A custom object storage, proven with the contract suite of its port: `node --test prove-storage.js`.
import { describe, it } from "node:test";
import { err, notFound, type ObjectName, type ObjectStorage, ok, parseObjectName } from "panorama-core";
import { objectStorageContract } from "panorama-core/testing";

const ORIGIN = "https://images.example/";

const objectsInMap = (): ObjectStorage => {
  const objects = new Map<ObjectName, Uint8Array>();
  return {
    put: async (name, bytes) => {
      if (!objects.has(name)) objects.set(name, Uint8Array.from(bytes));
      return ok(undefined);
    },
    read: async (name) => {
      const bytes = objects.get(name);
      return bytes === undefined ? err(notFound(`There is no object ${name}.`)) : ok(bytes);
    },
    has: async (name) => ok(objects.has(name)),
    delete: async (name) => {
      objects.delete(name);
      return ok(undefined);
    },
    list: async (prefix) => ok([...objects.keys()].filter((name) => name.startsWith(prefix))),
    urlOf: (name) => `${ORIGIN}${name}`,
    nameOf: (url) => (url.startsWith(ORIGIN) ? parseObjectName(url.slice(ORIGIN.length)) : undefined),
  };
};

objectStorageContract({ describe, it }, async () => objectsInMap());
