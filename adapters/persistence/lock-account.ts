import type { AccountId, Standing } from "../../domain/account.js";
import { standingOf } from "./account-rows.js";
import { integer } from "./columns.js";
import type { Sql } from "./database.js";

/**
 * Reads the account's standing and its last turn in the queue, and locks its row until the transaction ends. An update
 * without changes locks on both dialects. Throws if there is no such account.
 */
export const lockAccount = async (sql: Sql, account: AccountId): Promise<{ current: Standing; lastTurn: number }> => {
  const [row] = await sql(
    "update account set credits = credits where id = ? returning id, credits, active_tasks, last_turn",
    [account],
  );
  if (row === undefined) throw new Error(`there is no account ${account}`);
  return { current: standingOf(account, row), lastTurn: integer(row, "last_turn") };
};
