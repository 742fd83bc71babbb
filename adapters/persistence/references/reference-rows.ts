import type { NewReference } from "../../../application/ports/stores/reference-store.js";
import type { AccountId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import { branded, integer } from "../database/sql/columns.js";
import type { Database, Sql } from "../database/sql/database.js";
import { skipLocked } from "../database/sql/dialect-sql.js";
import type { Statement } from "../database/sql/statement.js";

/**
 * Locks the image until the transaction ends, so that it cannot become deletable. Returns `false` if it is deletable or
 * not recorded. An update without changes locks on both dialects.
 */
export const lockReference = async (sql: Sql, name: ObjectName): Promise<boolean> =>
  (
    await sql("update reference_image set content = content where name = ? and delete_at is null returning name", [
      name,
    ])
  ).length === 1;

/** Locks several images. Returns the recorded ones that are not deletable. */
export async function lockReferences(sql: Sql, names: readonly ObjectName[]): Promise<ReadonlySet<ObjectName>> {
  // Every transaction locks in the order of the contents, so that they do not block each other.
  const rows = await sql(
    `select name, content from reference_image where name in (${names.map(() => "?").join(", ")}) order by content`,
    names,
  );
  const stored = new Set<ObjectName>();
  for (const row of rows) {
    const name = branded<ObjectName>(row, "name");
    if (await lockReference(sql, name)) stored.add(name);
  }
  return stored;
}

/** Records an object, unless another one has its content. Locks the row, and returns the name of the object. */
export async function storeReference(sql: Sql, { name, content, countedBytes }: NewReference): Promise<ObjectName> {
  const [stored] = await sql(
    `insert into reference_image (name, content, bytes) values (?, ?, ?)
    on conflict (content) where delete_at is null do update set content = excluded.content returning name`,
    [name, content, countedBytes],
  );
  return branded<ObjectName>(stored ?? {}, "name");
}

/** Of the images that the account has unused. */
export async function unusedBytes(sql: Sql, account: AccountId): Promise<number> {
  const [row] = await sql(
    `select cast(coalesce(sum(bytes), 0) as integer) as unused
    from reference_upload join reference_image on reference_image.name = reference_upload.name where account_id = ?`,
    [account],
  );
  return integer(row ?? {}, "unused");
}

/** `ReferenceStore.claimDeletable`. */
export async function claimDeletable(
  { dialect, sql }: Database,
  now: Date,
  until: Date,
  limit: number,
): Promise<ObjectName[]> {
  // Two ranges of the index: between them are the names that wait.
  const next = (isNext: string) =>
    `(select name from reference_image where ${isNext} and delete_at is not null order by delete_at limit ?
      ${skipLocked(dialect)})`;
  const rows = await sql(
    `with due as (
      select * from ${next("delete_at <= ?")} as passed union all select * from ${next("delete_at > ?")} as later
    )
    update reference_image set delete_at = ? where name in (select name from due) returning name`,
    [now, limit, until, limit, until],
  );
  return rows.map((row) => branded<ObjectName>(row, "name"));
}

/** The task uses the images from now on; the account no longer has them unused. */
export const useReferences = (
  { id, accountId }: { readonly id: string; readonly accountId: string },
  names: ReadonlySet<ObjectName>,
): Statement[] =>
  [...names].flatMap((name) => [
    { text: "insert into task_reference (task_id, name) values (?, ?)", parameters: [id, name] },
    { text: "delete from reference_upload where account_id = ? and name = ?", parameters: [accountId, name] },
  ]);

/** The task no longer uses its images: its account has them unused, as if it had uploaded them at `uploadedAt`. */
export const releaseReferences = (
  { id, accountId }: { readonly id: string; readonly accountId: string },
  uploadedAt: Date,
): Statement[] => [
  {
    text: `insert into reference_upload (account_id, name, uploaded_at)
      select cast(? as text), name, cast(? as timestamptz) from task_reference where task_id = ?
      on conflict (account_id, name) do update set
      uploaded_at = case when excluded.uploaded_at > reference_upload.uploaded_at
        then excluded.uploaded_at else reference_upload.uploaded_at end`,
    parameters: [accountId, uploadedAt, id],
  },
  { text: "delete from task_reference where task_id = ?", parameters: [id] },
];
