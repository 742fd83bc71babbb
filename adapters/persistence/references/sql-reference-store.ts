import { err, ok, type Result } from "neverthrow";
import type { Access, AccessRefused } from "../../../application/ports/stores/access.js";
import type { NewReference, ReferenceStore } from "../../../application/ports/stores/reference-store.js";
import type { AccountId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { UploadStanding } from "../../../domain/images/reference-image.js";
import { inOpenAccount } from "../accounts/in-open-account.js";
import { changeEntities, type Entities, EntityStore } from "../database/orm/entities.js";
import {
  AccountTable,
  OrderTable,
  ReferenceImageTable,
  ReferenceUploadTable,
  TaskReferenceTable,
} from "../database/schema/schema.js";
import { amount, branded } from "../database/sql/columns.js";
import type { Sql } from "../database/sql/database.js";
import { claimDeletable, lockReference, storeReference, unusedBytes } from "./reference-rows.js";

/**
 * Reference images in SQLite or PostgreSQL: `reference_image` has one row per object, `reference_upload` one per
 * account that has it unused, `task_reference` one per task that uses it. Whoever adds a reference to an object, and
 * whoever makes it deletable, locks its row first.
 */
export class SqlReferenceStore extends EntityStore implements ReferenceStore {
  standing(account: AccountId): Promise<UploadStanding> {
    return standingOf(this.entities, this.database.sql, account);
  }

  async has(content: string): Promise<boolean> {
    return (await this.entities.count(ReferenceImageTable, { content, deleteAt: null })) > 0;
  }

  add<Refusal>(
    account: AccountId,
    files: readonly NewReference[],
    now: Date,
    decide: (standing: UploadStanding, addedBytes: number) => Result<void, Refusal>,
    access?: Access,
  ): Promise<Result<ObjectName[], Refusal | AccessRefused>> {
    return inOpenAccount(this.database, account, access, async (manager, sql) => {
      const nameOf = new Map<string, ObjectName>();
      let addedBytes = 0;
      const inLockOrder = [...files].sort((a, b) => (a.content < b.content ? -1 : 1));
      for (const file of inLockOrder) {
        if (nameOf.has(file.content)) continue;
        const name = await storeReference(sql, file);
        nameOf.set(file.content, name);
        const isUnused = (await manager.count(ReferenceUploadTable, { accountId: account, name })) > 0;
        if (!isUnused) addedBytes += file.countedBytes;
      }
      const decided = decide(await standingOf(manager, sql, account), addedBytes);
      if (decided.isErr()) return err(decided.error);
      const uploads = [...nameOf.values()].map((name) => ({ accountId: account, name, uploadedAt: now }));
      for (const upload of uploads) await manager.upsert(ReferenceUploadTable, upload);
      return ok(files.map(({ content, name }) => nameOf.get(content) ?? name));
    });
  }

  async expire(before: Date, now: Date, limit: number): Promise<number> {
    const oldest = { orderBy: { uploadedAt: "asc" }, limit } as const;
    const uploads = await this.entities.find(ReferenceUploadTable, { uploadedAt: { $lt: before } }, oldest);
    for (const name of new Set(uploads.map((upload) => branded<ObjectName>(upload, "name")))) {
      await changeEntities(this.database, async (manager, sql) => {
        // Separate statements after the lock: a PostgreSQL statement only sees what was committed before it began.
        if (!(await lockReference(sql, name))) return;
        await manager.nativeDelete(ReferenceUploadTable, { name, uploadedAt: { $lt: before } });
        // References of tasks first: an image that a task gives back without the lock is an upload afterwards.
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

const standingOf = async (entities: Entities, sql: Sql, account: AccountId): Promise<UploadStanding> => ({
  credits: amount(await entities.findOneOrFail(AccountTable, account, { fields: ["credits"] }), "credits"),
  hasPaidOrder: (await entities.count(OrderTable, { accountId: account, paidAt: { $ne: null } })) > 0,
  unusedBytes: await unusedBytes(sql, account),
});
