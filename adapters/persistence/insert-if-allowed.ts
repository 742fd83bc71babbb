import type { Result } from "neverthrow";
import type { AccountId } from "../../domain/account.js";
import { integer } from "./columns.js";
import type { Database } from "./database.js";
import { lockAccount } from "./lock-account.js";
import type { Statement } from "./statement.js";

/**
 * Runs `insertion` if `decide` allows it, given what `count` returns as `counted`. The account is locked, so that rows that
 * are inserted concurrently are counted. Throws if the account does not exist.
 */
export const insertIfAllowed = <Refusal>(
  database: Database,
  account: AccountId,
  count: Statement,
  decide: (counted: number) => Result<void, Refusal>,
  insertion: Statement,
): Promise<Result<void, Refusal>> =>
  database.transaction(async (sql) => {
    await lockAccount(sql, account);
    const [row] = await sql(count.text, count.parameters);
    const decided = decide(integer(row ?? {}, "counted"));
    if (decided.isOk()) await sql(insertion.text, insertion.parameters);
    return decided;
  });
