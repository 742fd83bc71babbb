import { err, ok, type Result } from "neverthrow";
import * as z from "zod";
import {
  type DownloadFailure,
  FAILURE_CAUSES,
  type Progress,
  type ProviderUnavailable,
} from "../../../application/ports/generation-provider.js";
import type { ObjectStorage } from "../../../application/ports/object-storage.js";
import { FILE_EXTENSIONS, imageTypeOf } from "../../../domain/images/image-type.js";
import { GENERATIONS, generationName, isPicture, type ObjectName } from "../../../domain/images/object-name.js";
import { unavailable } from "../sound-reference.js";

/** How a generation has ended: with a picture, or with a failure. `stopped`: ended by an abort. */
export type End = { readonly bytes: Uint8Array } | (z.infer<typeof failureSchema> & { readonly stopped?: boolean });

const failureSchema = z.object({ reason: z.string(), cause: z.enum(FAILURE_CAUSES) });

/** The ends of generations, as objects of the storage: any process with this storage can read them. */
export class StoredEnds {
  private readonly storage: ObjectStorage;

  constructor(storage: ObjectStorage) {
    this.storage = storage;
  }

  /** False if the storage does not answer. */
  async store(id: string, end: End): Promise<boolean> {
    const type = "bytes" in end ? imageTypeOf(end.bytes) : undefined;
    const name = generationName(id, type === undefined ? "json" : FILE_EXTENSIONS[type]);
    const bytes = "bytes" in end ? end.bytes : new TextEncoder().encode(JSON.stringify(end));
    try {
      return (await this.storage.put(name, bytes, type ?? "application/json")).isOk();
    } catch {
      return false; // a storage of one's own
    }
  }

  /** What a poll reports; `undefined` if no end is stored. */
  async progressOf(id: string): Promise<Result<Progress | undefined, ProviderUnavailable>> {
    const name = await this.nameOf(id);
    if (name.isErr()) return err(name.error);
    if (name.value === undefined) return ok(undefined);
    return isPicture(name.value)
      ? ok({ state: "succeeded", temporaryUrl: this.storage.urlOf(name.value) })
      : this.failureIn(name.value);
  }

  async pictureOf(id: string): Promise<Result<Uint8Array, DownloadFailure>> {
    const name = await this.nameOf(id);
    if (name.isErr()) return err(name.error);
    if (name.value === undefined || !isPicture(name.value)) return err(GONE);
    const read = await this.storage.read(name.value);
    return read.mapErr((error) => (error.kind === "not_found" ? GONE : unavailable(error.reason)));
  }

  /** Also succeeds if no end is stored. */
  async delete(id: string): Promise<Result<void, ProviderUnavailable>> {
    const name = await this.nameOf(id);
    if (name.isErr()) return err(name.error);
    if (name.value === undefined) return ok(undefined);
    return (await this.storage.delete(name.value)).mapErr(({ reason }) => unavailable(reason));
  }

  /** Deletes the ends of generations that started at this time or before. Rejects if the storage does not answer. */
  async deleteUntil(milliseconds: number): Promise<void> {
    const names = await this.storage.list(GENERATIONS);
    if (names.isErr()) throw new Error(`Old generations cannot be listed: ${names.error.reason}`);
    for (const name of names.value) {
      const startedAt = generationStart(name.slice(GENERATIONS.length, name.lastIndexOf("."))) ?? 0;
      if (startedAt > milliseconds) continue;
      const deleted = await this.storage.delete(name);
      if (deleted.isErr()) throw new Error(`An old generation cannot be deleted: ${deleted.error.reason}`);
    }
  }

  private async nameOf(id: string): Promise<Result<ObjectName | undefined, ProviderUnavailable>> {
    if (generationStart(id) === undefined) return ok(undefined);
    const names = await this.storage.list(`${GENERATIONS}${id}.`);
    return names.map(([name]) => name).mapErr(({ reason }) => unavailable(reason));
  }

  private async failureIn(name: ObjectName): Promise<Result<Progress, ProviderUnavailable>> {
    const read = await this.storage.read(name);
    if (read.isErr()) return err(unavailable("reason" in read.error ? read.error.reason : "its end was deleted"));
    const { reason, cause } = failureSchema.parse(JSON.parse(new TextDecoder().decode(read.value)));
    return ok({ state: "failed", reason, cause });
  }
}

const GONE = { kind: "result_gone", reason: "the storage no longer has the result" } as const;

/** Time of the start in nine characters, with which an id begins. */
export const timeText = (at: Date): string => at.getTime().toString(36).padStart(9, "0");

/** Time of the start in milliseconds; `undefined` if it is not an id of a function provider. */
export const generationStart = (id: string): number | undefined => {
  const [, start] = /^([0-9a-z]{9})-[\w-]{8}-[\w-]{22}$/.exec(id) ?? [];
  return start === undefined ? undefined : Number.parseInt(start, 36);
};
