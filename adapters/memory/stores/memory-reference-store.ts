import { ok, type Result } from "neverthrow";
import type { NewReference, ReferenceStore } from "../../../application/ports/stores/reference-store.js";
import type { AccountId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { UploadStanding } from "../../../domain/images/reference-image.js";
import type { MemoryDatabase } from "./memory-database.js";

/** Reference images in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryReferenceStore implements ReferenceStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async standing(account: AccountId): Promise<UploadStanding> {
    return this.standingOf(account);
  }

  async has(content: string): Promise<boolean> {
    const references = [...this.database.references.values()];
    return references.some((reference) => reference.content === content && reference.deleteAt === undefined);
  }

  async add<Refusal>(
    account: AccountId,
    files: readonly NewReference[],
    now: Date,
    decide: (standing: UploadStanding, addedBytes: number) => Result<void, Refusal>,
  ): Promise<Result<ObjectName[], Refusal>> {
    const { references, uploads } = this.database;
    const added = new Map<string, NewReference>();
    let addedBytes = 0;
    for (const file of files) {
      if (added.has(file.content)) continue;
      let { name } = file;
      for (const [known, { content, deleteAt }] of references) {
        if (content === file.content && deleteAt === undefined) name = known;
      }
      added.set(file.content, { ...file, name });
      const isUnused = uploads.some((upload) => upload.accountId === account && upload.name === name);
      if (!isUnused) addedBytes += file.countedBytes;
    }
    return decide(this.standingOf(account), addedBytes).andThen(() => {
      for (const { name, content, countedBytes } of added.values()) {
        if (!references.has(name)) references.set(name, { content, bytes: countedBytes, deleteAt: undefined });
        this.database.recordUpload(account, name, now);
      }
      return ok(files.map(({ content, name }) => added.get(content)?.name ?? name));
    });
  }

  async expire(before: Date, now: Date, limit: number): Promise<number> {
    const { uploads, references, taskReferences } = this.database;
    const expired = uploads.filter(({ uploadedAt }) => uploadedAt < before).slice(0, limit);
    for (const { name } of expired) {
      this.database.removeUploads((upload) => upload.name === name && upload.uploadedAt < before);
      const isUsed = [...taskReferences.values()].some((names) => names.has(name));
      const reference = references.get(name);
      if (
        reference?.deleteAt === undefined &&
        reference &&
        !isUsed &&
        !uploads.some((upload) => upload.name === name)
      ) {
        reference.deleteAt = now;
      }
    }
    return expired.length;
  }

  async claimDeletable(now: Date, until: Date, limit: number): Promise<ObjectName[]> {
    const due = [...this.database.references].filter(
      ([, { deleteAt }]) => deleteAt !== undefined && (deleteAt <= now || deleteAt > until),
    );
    return due.slice(0, limit).map(([name, reference]) => {
      reference.deleteAt = until;
      return name;
    });
  }

  async forget(name: ObjectName): Promise<void> {
    if (this.database.references.get(name)?.deleteAt !== undefined) this.database.references.delete(name);
  }

  private standingOf(account: AccountId): UploadStanding {
    const { references, uploads, orders } = this.database;
    const unused = uploads.filter(({ accountId }) => accountId === account);
    return {
      credits: this.database.account(account).standing.credits,
      hasPaidOrder: [...orders.values()].some(({ accountId, state }) => accountId === account && state === "paid"),
      unusedBytes: unused.reduce((sum, { name }) => sum + (references.get(name)?.bytes ?? 0), 0),
    };
  }
}
