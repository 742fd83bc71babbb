import { err, ok, type Result } from "neverthrow";
import type { NewReference, ReferenceStore } from "../../../application/ports/stores/reference-store.js";
import { credits } from "../../../domain/credits/credits.js";
import type { AccountId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { UploadStanding } from "../../../domain/images/reference-image.js";
import { changeEntities, entitiesOf } from "../orm/entities.js";
import { lockAccount } from "../prepared/lock-account.js";
import { lockReference } from "../prepared/reference-rows.js";
import { ReferenceImageTable, ReferenceUploadTable, TaskReferenceTable } from "../schema/schema.js";
import { branded, integer } from "../sql/columns.js";
import type { Database, Sql } from "../sql/database.js";
import { skipLocked } from "../sql/dialect-sql.js";

/**
 * Reference images in SQLite or PostgreSQL: `reference_image` has one row per object, `reference_upload` one per
 * account that has it unused, `task_reference` one per task that uses it. Whoever adds a reference to an object, and
 * whoever makes it deletable, locks its row first.
 */
export class SqlReferenceStore implements ReferenceStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

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
    return this.database.transaction(async (sql) => {
      await lockAccount(sql, account);
      const nameOf = new Map<string, ObjectName>();
      let addedBytes = 0;
      const inLockOrder = [...files].sort((a, b) => (a.content < b.content ? -1 : 1));
      for (const { content, countedBytes, name } of inLockOrder) {
        if (nameOf.has(content)) continue;
        const [stored] = await sql(
          `insert into reference_image (name, content, bytes) values (?, ?, ?)
          on conflict (content) where delete_at is null do update set content = excluded.content returning name`,
          [name, content, countedBytes],
        );
        const storedName = branded<ObjectName>(stored ?? {}, "name");
        nameOf.set(content, storedName);
        const unused = "select name from reference_upload where account_id = ? and name = ?";
        if ((await sql(unused, [account, storedName])).length === 0) addedBytes += countedBytes;
      }
      const decided = decide(await standingOf(sql, account), addedBytes);
      if (decided.isErr()) return err(decided.error);
      for (const name of nameOf.values()) {
        await sql(
          `insert into reference_upload (account_id, name, uploaded_at) values (?, ?, ?)
          on conflict (account_id, name) do update set uploaded_at = excluded.uploaded_at`,
          [account, name, now],
        );
      }
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
        // Those of tasks first: what a task gives back without the lock is an upload afterwards.
        if ((await manager.count(TaskReferenceTable, { name })) > 0) return;
        if ((await manager.count(ReferenceUploadTable, { name })) > 0) return;
        await manager.nativeUpdate(ReferenceImageTable, { name }, { deleteAt: now });
      });
    }
    return uploads.length;
  }

  async claimDeletable(now: Date, until: Date, limit: number): Promise<ObjectName[]> {
    // Two ranges of the index: between them are the names that wait.
    const next = (isNext: string) =>
      `(select name from reference_image where ${isNext} and delete_at is not null order by delete_at limit ?
        ${skipLocked(this.database.dialect)})`;
    const rows = await this.database.sql(
      `with due as (
        select * from ${next("delete_at <= ?")} as passed union all select * from ${next("delete_at > ?")} as later
      )
      update reference_image set delete_at = ? where name in (select name from due) returning name`,
      [now, limit, until, limit, until],
    );
    return rows.map((row) => branded<ObjectName>(row, "name"));
  }

  async forget(name: ObjectName): Promise<void> {
    await this.entities.nativeDelete(ReferenceImageTable, { name, deleteAt: { $ne: null } });
  }

  private get entities() {
    return entitiesOf(this.database);
  }
}

const standingOf = async (sql: Sql, account: AccountId): Promise<UploadStanding> => {
  const [row] = await sql(
    `select id, credits,
    cast((select count(*) from credit_order where account_id = account.id and paid_at is not null) as integer) as paid,
    cast(coalesce((
      select sum(bytes) from reference_upload join reference_image on reference_image.name = reference_upload.name
      where reference_upload.account_id = account.id
    ), 0) as integer) as unused
    from account where id = ?`,
    [account],
  );
  if (row === undefined) throw new Error(`there is no account ${account}`);
  return {
    credits: credits(integer(row, "credits")),
    hasPaidOrder: integer(row, "paid") > 0,
    unusedBytes: integer(row, "unused"),
  };
};
