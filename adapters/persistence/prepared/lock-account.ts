import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId } from "../../../domain/ids.js";
import { OPENING_COLUMNS, openingStandingOf } from "../rows/account-rows.js";
import { integer } from "../sql/columns.js";
import type { Sql } from "../sql/database.js";
import { ANY_QUEUED } from "./queue-rows.js";

/**
 * Reads the account's standing, its last turn in the queue and whether any task waits there, and locks its row until
 * the transaction ends. An update without changes locks on both dialects. Throws if there is no such account.
 */
export const lockAccount = async (
  sql: Sql,
  account: AccountId,
): Promise<{ current: Standing; lastTurn: number; anyWaits: boolean }> => {
  const [row] = await sql(
    `update account set credits = credits where id = ?
    returning id, credits, last_turn, ${OPENING_COLUMNS}, ${ANY_QUEUED} as any_queued`,
    [account],
  );
  if (row === undefined) throw new Error(`there is no account ${account}`);
  return {
    current: openingStandingOf(account, row),
    lastTurn: integer(row, "last_turn"),
    anyWaits: row.any_queued === 1,
  };
};
