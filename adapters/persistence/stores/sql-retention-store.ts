import { ok } from "neverthrow";
import type { Amount, RetentionStore } from "../../../application/ports/stores/retention-store.js";
import { RETAINED, type Retained, type Retention } from "../../../domain/images/retention.js";
import { KEPT_IMAGE } from "../schema/indexed-conditions.js";
import { date, integer, oneOf, optional, type Row } from "../sql/columns.js";
import type { Database } from "../sql/database.js";
import { insertion, update } from "../sql/statement.js";

/** What is kept: the table, the column that tells the age, and which rows. */
const KEPT: Readonly<Record<Retained, { readonly from: string; readonly at: string }>> = {
  finished_images: { from: `task where ${KEPT_IMAGE}`, at: "succeeded_at" },
  reference_images: { from: "reference_upload where true", at: "uploaded_at" },
};

/** The retentions in SQLite or PostgreSQL. */
export class SqlRetentionStore implements RetentionStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async find(retained: Retained): Promise<Retention | undefined> {
    const [row] = await this.database.sql("select * from retention where retained = ?", [retained]);
    return row && toRetention(row);
  }

  async change(retained: Retained, decide: (stored: Retention | undefined) => Retention): Promise<Retention> {
    const changed = await this.database.transaction<Retention, never>(async (sql) => {
      // The row is locked first. Without a row, whoever inserts it first decides.
      const lock = "update retention set retained = retained where retained = ? returning *";
      let [row] = await sql(lock, [retained]);
      if (row === undefined) {
        const { text, parameters } = insertion("retention", rowOf(retained, decide(undefined)));
        await sql(`${text} on conflict (retained) do nothing`, parameters);
        [row = {}] = await sql(lock, [retained]);
      }
      const stored = toRetention(row);
      const next = decide(stored);
      if (next === stored) return ok(stored);
      const { text, parameters } = update("retention", rowOf(retained, next), { retained });
      await sql(text, parameters);
      return ok(next);
    });
    return changed._unsafeUnwrap();
  }

  async olderThan(retained: Retained, before: Date): Promise<Amount> {
    const { from, at } = KEPT[retained];
    const [row = {}] = await this.database.sql(
      `select cast(count(*) as integer) as count, min(${at}) as oldest, max(${at}) as newest
      from ${from} and ${at} < ? and ${at} > ?`,
      [before, new Date(0)], // a closed account's uploads are as old as that
    );
    return {
      count: integer(row, "count"),
      oldest: optional(row, "oldest", date),
      newest: optional(row, "newest", date),
    };
  }
}

const rowOf = (retained: Retained, { inForce, confirmed }: Retention): Row => ({
  retained,
  in_force: inForce,
  confirmed: confirmed?.time ?? null,
  confirmed_from: confirmed?.from ?? null,
});

/** What `panorama doctor` reads, of all rows. */
export const toRetentions = (rows: readonly Row[]): ReadonlyMap<Retained, Retention> =>
  new Map(rows.map((row) => [oneOf(row, "retained", RETAINED), toRetention(row)]));

const toRetention = (row: Row): Retention => {
  const inForce = optional(row, "in_force", integer) ?? null;
  const time = optional(row, "confirmed", integer);
  return time === undefined ? { inForce } : { inForce, confirmed: { time, from: date(row, "confirmed_from") } };
};
