// A custom object storage, proven with the contract suite of its port: `node --test prove-storage.js`.
import { describe, it } from "node:test";
import { err, ok } from "neverthrow";
import { notFound } from "panorama-core/application/errors";
import type { ObjectStorage } from "panorama-core/application/ports/object-storage";
import { objectStorageContract } from "panorama-core/contracts/object-storage-contract";
import { parseObjectName } from "panorama-core/domain/object-name";

const ORIGIN = "https://images.example/";

const objectsInMap = (): ObjectStorage => {
  const objects = new Map<string, Uint8Array>();
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
    urlOf: (name) => `${ORIGIN}${name}`,
    nameOf: (url) => (url.startsWith(ORIGIN) ? parseObjectName(url.slice(ORIGIN.length)) : undefined),
  };
};

objectStorageContract({ describe, it }, async () => objectsInMap());
