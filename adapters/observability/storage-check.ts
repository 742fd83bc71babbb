import { err, type Result } from "neverthrow";
import type { Logger } from "pino";
import type { Clock } from "../../application/ports/clock.js";
import type { Ids } from "../../application/ports/ids.js";
import type { ObjectStorage } from "../../application/ports/object-storage.js";
import { panoramaName } from "../../domain/images/object-name.js";
import { sharedFor } from "../system/shared-for.js";
import type { Metrics } from "./metrics.js";

/** Load balancers ask every few seconds, and each write to a bucket costs money. */
const VALID_MILLISECONDS = 15_000;
/** Load balancers do not wait long either. A disk or a bucket that is slower than this delays every panorama. */
const TIMEOUT_MILLISECONDS = 3_000;

export type StorageCheck = { readonly name: "storage"; readonly ok: boolean; readonly detail: string };

type Ports = {
  readonly storage: Pick<ObjectStorage, "put" | "delete">;
  readonly ids: Pick<Ids, "unguessable">;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "error">;
};

/** For `/readyz`: stores a small object and deletes it. A result is valid for 15 s. Concurrent callers share it. */
export const storageCheck = (ports: Ports): (() => Promise<StorageCheck>) =>
  sharedFor(VALID_MILLISECONDS, ports.clock, () => check(ports));

const check = async ({ storage, ids, clock, logger }: Ports): Promise<StorageCheck> => {
  const name = panoramaName(ids.unguessable());
  const answered = new AbortController();
  const written = storage
    .put(name, new TextEncoder().encode("storage check"), "image/jpeg")
    .then((stored) => (stored.isErr() ? stored : storage.delete(name)));
  const late = clock
    .sleep(TIMEOUT_MILLISECONDS, answered.signal)
    .then(() => err({ reason: `no answer within ${TIMEOUT_MILLISECONDS} ms` }));
  const outcome = await Promise.race([written, late]);
  answered.abort();
  if (outcome.isOk()) return { name: "storage", ok: true, detail: "The storage takes writes." };
  logger.error({ event: "storage_check_failed", reason: outcome.error.reason });
  return {
    name: "storage",
    ok: false,
    detail: "The storage does not take a write. See the log for the reason, for example a full disk.",
  };
};

/** The storage, with the time of each call in the metrics. `urlOf` and `nameOf` make no call. */
export const measuredStorage = (storage: ObjectStorage, metrics: Metrics): ObjectStorage => {
  const measured = async <T, E extends { readonly kind: string }>(
    operation: "put" | "read" | "has" | "delete" | "list",
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
    list: (prefix) => measured("list", storage.list(prefix)),
    urlOf: (name) => storage.urlOf(name),
    nameOf: (url) => storage.nameOf(url),
  };
};
