import type { Result } from "neverthrow";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import type { Metrics } from "./metrics.js";

/** The storage, with the time of each call in the metrics. `urlOf` and `nameOf` make no call. */
export const measuredStorage = (storage: ObjectStorage, metrics: Metrics): ObjectStorage => {
  const measured = async <T, E extends { readonly kind: string }>(
    operation: "put" | "read" | "has" | "delete",
    call: Promise<Result<T, E>>,
  ): Promise<Result<T, E>> => {
    const end = metrics.storageCallSeconds.startTimer({ operation });
    const result = await call;
    end({ outcome: result.isOk() ? "ok" : result.error.kind });
    return result;
  };
  return {
    put: (name, bytes, contentType) => measured("put", storage.put(name, bytes, contentType)),
    read: (name) => measured("read", storage.read(name)),
    has: (name) => measured("has", storage.has(name)),
    delete: (name) => measured("delete", storage.delete(name)),
    urlOf: (name) => storage.urlOf(name),
    nameOf: (url) => storage.nameOf(url),
  };
};
