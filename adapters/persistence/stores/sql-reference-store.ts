import type { Result } from "neverthrow";
import type { NewReference, ReferenceStore } from "../../../application/ports/stores/reference-store.js";
import type { AccountId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { UploadStanding } from "../../../domain/images/reference-image.js";
import { changeEntities, EntityStore } from "../orm/entities.js";
import { lockReference } from "../prepared/reference-rows.js";
import { addReferences, claimDeletable, standingOf } from "../prepared/upload-references.js";
import { ReferenceImageTable, ReferenceUploadTable, TaskReferenceTable } from "../schema/schema.js";
import { branded } from "../sql/columns.js";

/**
 * Reference images in SQLite or PostgreSQL: `reference_image` has one row per object, `reference_upload` one per
 * account that has it unused, `task_reference` one per task that uses it. Whoever adds a reference to an object, and
 * whoever makes it deletable, locks its row first.
 */
export class SqlReferenceStore extends EntityStore implements ReferenceStore {
  standing(account: AccountId): Promise<UploadStanding> {
    return standingOf(this.database.sql, account);
  }

  async has(content: string): Promise<boolean> {
    return (await this.entities.count(ReferenceImageTable, { content, deleteAt: null })) > 0;
  }

  add<Refusal>(
    account: AccountId,
    files: readonly NewReference[],
    now: Date,
    decide: (standing: UploadStanding, addedBytes: number) => Result<void, Refusal>,
  ): Promise<Result<ObjectName[], Refusal>> {
    return addReferences(this.database, account, files, now, decide);
  }

  async expire(before: Date, now: Date, limit: number): Promise<number> {
    const oldest = { orderBy: { uploadedAt: "asc" }, limit } as const;
    const uploads = await this.entities.find(ReferenceUploadTable, { uploadedAt: { $lt: before } }, oldest);
    for (const name of new Set(uploads.map((upload) => branded<ObjectName>(upload, "name")))) {
      await changeEntities(this.database, async (manager, sql) => {
        // Separate statements after the lock: a PostgreSQL statement only sees what was committed before it began.
        if (!(await lockReference(sql, name))) return;
        await manager.nativeDelete(ReferenceUploadTable, { name, uploadedAt: { $lt: before } });
        // Those of tasks first: what a task gives back without the lock is an upload afterwards.
        if ((await manager.count(TaskReferenceTable, { name })) > 0) return;
        if ((await manager.count(ReferenceUploadTable, { name })) > 0) return;
        await manager.nativeUpdate(ReferenceImageTable, { name }, { deleteAt: now });
      });
    }
    return uploads.length;
  }

  claimDeletable(now: Date, until: Date, limit: number): Promise<ObjectName[]> {
    return claimDeletable(this.database, now, until, limit);
  }

  async forget(name: ObjectName): Promise<void> {
    await this.entities.nativeDelete(ReferenceImageTable, { name, deleteAt: { $ne: null } });
  }
}
