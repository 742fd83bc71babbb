import { err, ok, type Result } from "neverthrow";
import { objectNames } from "../../adapters/persistence/tasks/object-names.js";
import type { StorageUnavailable } from "../../application/ports/object-storage.js";
import type { ObjectName } from "../../domain/images/object-name.js";
import { tokens } from "../tokens.js";
import type { Command } from "./common/command.js";

export const storageVerify: Command = {
  words: "storage verify",
  about:
    "Checks that the storage has every object that the database names: images, thumbnails, and uploads that tasks use. Does not read the objects. Findings give exit status 1.",
  usage: "",
  options: {},
  required: [],
  example: "storage verify",
  run: async (service) => {
    await service.loadServer(); // for the storage
    const [{ sql }, storage] = [await service.get(tokens.database), await service.get(tokens.storage)];
    const found = await missingObjects(
      () => objectNames(sql),
      (name) => storage.has(name),
    );
    return found
      .map(({ objects, missing }) => ({
        json: { objects, missing },
        lines: [`${objects} objects checked, ${missing.length} missing`, ...missing],
        ...(missing.length > 0 && { failed: "failed" as const }),
      }))
      .mapErr(({ reason }) => ({ kind: "unreachable", message: `The storage cannot be read: ${reason}` }));
  },
};

type Has = (name: ObjectName) => Promise<Result<boolean, StorageUnavailable>>;
type Found = { readonly objects: number; readonly missing: readonly ObjectName[] };

/** The number of objects that are checked at the same time. */
const CONCURRENCY = 16;

/** Checks twice: an object that is deleted at this moment is missing before its row says so. */
const missingObjects = async (
  pagesOfNames: () => AsyncIterable<readonly ObjectName[]>,
  has: Has,
): Promise<Result<Found, StorageUnavailable>> => {
  const first = await look(pagesOfNames(), has);
  if (first.isErr() || first.value.missing.length === 0) return first;
  const suspected = new Set(first.value.missing);
  const second = await look(pagesOfNames(), async (name) => (suspected.has(name) ? has(name) : ok(true)));
  return second.map(({ missing }) => ({ ...first.value, missing }));
};

const look = async (
  pages: AsyncIterable<readonly ObjectName[]>,
  has: Has,
): Promise<Result<Found, StorageUnavailable>> => {
  let objects = 0;
  const missing: ObjectName[] = [];
  for await (const names of pages) {
    for (let at = 0; at < names.length; at += CONCURRENCY) {
      const some = names.slice(at, at + CONCURRENCY);
      for (const [index, answer] of (await Promise.all(some.map(has))).entries()) {
        if (answer.isErr()) return err(answer.error);
        if (!answer.value) missing.push(some[index] as ObjectName);
      }
      objects += some.length;
    }
  }
  return ok({ objects, missing });
};
