import { err, ok, type Result } from "neverthrow";
import type { Access, AccessRefused } from "../../../application/ports/stores/access.js";
import type { NewReference, ReferenceStore } from "../../../application/ports/stores/reference-store.js";
import type { AccountId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { UploadStanding } from "../../../domain/images/reference-image.js";
import { inOpenAccount } from "../accounts/in-open-account.js";
import { amount, branded } from "../database/sql/columns.js";
import { type Database, inTransaction, type Sql } from "../database/sql/database.js";
import { claimDeletable, lockReference, storeReference, unusedBytes } from "./reference-rows.js";

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
    const known = "select 1 from reference_image where content = ? and delete_at is null";
    return (await this.database.sql(known, [content])).length > 0;
  }

  add<Refusal>(
    account: AccountId,
    files: readonly NewReference[],
    now: Date,
    decide: (standing: UploadStanding, addedBytes: number) => Result<void, Refusal>,
    access?: Access,
  ): Promise<Result<ObjectName[], Refusal | AccessRefused>> {
    return inOpenAccount(this.database, account, access, async (sql) => {
      const nameOf = new Map<string, ObjectName>();
      let addedBytes = 0;
      const inLockOrder = [...files].sort((a, b) => (a.content < b.content ? -1 : 1));
      for (const file of inLockOrder) {
        if (nameOf.has(file.content)) continue;
        const name = await storeReference(sql, file);
        nameOf.set(file.content, name);
        const unused = "select 1 from reference_upload where account_id = ? and name = ?";
        if ((await sql(unused, [account, name])).length === 0) addedBytes += file.countedBytes;
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
    const oldest = "select name from reference_upload where uploaded_at < ? order by uploaded_at limit ?";
    const uploads = await this.database.sql(oldest, [before, limit]);
    for (const name of new Set(uploads.map((upload) => branded<ObjectName>(upload, "name")))) {
      await inTransaction(this.database, async (sql) => {
        // Separate statements after the lock: a PostgreSQL statement only sees what was committed before it began.
        if (!(await lockReference(sql, name))) return;
        await sql("delete from reference_upload where name = ? and uploaded_at < ?", [name, before]);
        // References of tasks first: an image that a task gives back without the lock is an upload afterwards.
        for (const table of ["task_reference", "reference_upload"]) {
          if ((await sql(`select 1 from ${table} where name = ? limit 1`, [name])).length > 0) return;
        }
        await sql("update reference_image set delete_at = ? where name = ?", [now, name]);
      });
    }
    return uploads.length;
  }

  claimDeletable(now: Date, until: Date, limit: number): Promise<ObjectName[]> {
    return claimDeletable(this.database, now, until, limit);
  }

  async forget(name: ObjectName): Promise<void> {
    await this.database.sql("delete from reference_image where name = ? and delete_at is not null", [name]);
  }
}

async function standingOf(sql: Sql, account: AccountId): Promise<UploadStanding> {
  const [row] = await sql(
    `select id, credits, case when exists (select 1 from credit_order
      where account_id = account.id and paid_at is not null) then 1 else 0 end as has_paid
    from account where id = ?`,
    [account],
  );
  if (row === undefined) throw new Error(`there is no account ${account}`);
  return {
    credits: amount(row, "credits"),
    hasPaidOrder: row.has_paid === 1,
    unusedBytes: await unusedBytes(sql, account),
  };
}
