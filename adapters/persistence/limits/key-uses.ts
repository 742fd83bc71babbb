import type { ApiKeyId } from "../../../domain/accounts/api-key.js";
import { type Database, inTransaction, type Sql } from "../database/sql/database.js";

/** Keys per transaction that stores their last uses. */
const USES_MAX = 500;

export async function recordKeyUses(database: Database, uses: ReadonlyMap<ApiKeyId, Date>): Promise<void> {
  const all = [...uses];
  for (let start = 0; start < all.length; start += USES_MAX) {
    const some = all.slice(start, start + USES_MAX);
    // A transaction, because it is repeated after a deadlock: another instance may write the same keys in another
    // order.
    await inTransaction(database, async (sql) => {
      if (database.dialect === "sqlite") await recordOneByOne(sql, some);
      else await recordAtOnce(sql, some);
    });
  }
}

type Uses = readonly (readonly [id: ApiKeyId, at: Date])[];

/** In one round trip. */
const recordAtOnce = (sql: Sql, uses: Uses): Promise<unknown> =>
  sql(
    `with used (id, at) as (values ${uses.map(() => "(cast(? as text), cast(? as timestamptz))").join(", ")})
    update api_key set last_used_at = used.at from used
    where api_key.id = used.id and (last_used_at is null or last_used_at < used.at)`,
    uses.flat(),
  );

/** SQLite would read the whole table for such a statement, and has no round trips. */
async function recordOneByOne(sql: Sql, uses: Uses): Promise<void> {
  for (const [id, at] of uses) {
    await sql("update api_key set last_used_at = ? where id = ? and (last_used_at is null or last_used_at < ?)", [
      at,
      id,
      at,
    ]);
  }
}
