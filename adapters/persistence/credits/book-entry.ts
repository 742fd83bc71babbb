import { book, type Funds } from "../../../domain/credits/funds.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { Sql } from "../database/sql/database.js";
import { insert } from "../database/sql/statement.js";
import { entryRow } from "./ledger-rows.js";

/** Books the entry (domain/credits/funds.ts) in the account, which the transaction has locked. */
export const bookEntry = (sql: Sql, standing: Standing, entry: LedgerEntry): Promise<void> =>
  storeBooked(sql, entry.accountId, book(fundsOf(standing), entry));

export const fundsOf = ({ credits, debt = 0 as Funds["debt"] }: Standing): Funds => ({ credits, debt });

/** Stores new entries and the new balance of the account, which the transaction has locked. */
export async function storeBooked(
  sql: Sql,
  account: LedgerEntry["accountId"],
  { funds, entries }: ReturnType<typeof book>,
): Promise<void> {
  for (const entry of entries) await insert(sql, "ledger_entry", entryRow(entry));
  await sql("update account set credits = ?, debt = ? where id = ?", [funds.credits, funds.debt, account]);
}
