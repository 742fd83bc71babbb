import type { Result } from "neverthrow";
import type { AccountId } from "../../../domain/ids.js";
import { integer } from "../sql/columns.js";
import type { Database } from "../sql/database.js";
import type { Statement } from "../sql/statement.js";
import { lockAccount } from "./lock-account.js";

/**
 * Runs `insertion` if `decide` allows it, given what `count` returns as `counted`. The account is locked, so that rows
 * that are inserted concurrently are counted. Throws if the account does not exist.
 */
export const insertIfAllowed = <Refusal>(
  database: Database,
  account: AccountId,
  { count, insertion }: { readonly count: Statement; readonly insertion: Statement },
  decide: (counted: number) => Result<void, Refusal>,
): Promise<Result<void, Refusal>> =>
  database.transaction(async (sql) => {
    await lockAccount(sql, account);
    const [row] = await sql(count.text, count.parameters);
    const decided = decide(integer(row ?? {}, "counted"));
    if (decided.isOk()) await sql(insertion.text, insertion.parameters);
    return decided;
  });
