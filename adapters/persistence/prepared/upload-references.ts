import { err, ok, type Result } from "neverthrow";
import type { NewReference } from "../../../application/ports/stores/reference-store.js";
import { credits } from "../../../domain/credits/credits.js";
import type { AccountId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { UploadStanding } from "../../../domain/images/reference-image.js";
import { branded, integer } from "../sql/columns.js";
import type { Database, Sql } from "../sql/database.js";
import { skipLocked } from "../sql/dialect-sql.js";
import { lockAccount } from "./lock-account.js";

export const addReferences = <Refusal>(
  database: Database,
  account: AccountId,
  files: readonly NewReference[],
  now: Date,
  decide: (standing: UploadStanding, addedBytes: number) => Result<void, Refusal>,
): Promise<Result<ObjectName[], Refusal>> =>
  database.transaction(async (sql) => {
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

export const claimDeletable = async (
  { dialect, sql }: Database,
  now: Date,
  until: Date,
  limit: number,
): Promise<ObjectName[]> => {
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
};

export const standingOf = async (sql: Sql, account: AccountId): Promise<UploadStanding> => {
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
