import { err, type Result } from "neverthrow";
import type { Access, AccessRefused } from "../../../application/ports/stores/access.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Database, Sql } from "../database/sql/database.js";
import { lockToBegin } from "./lock-account.js";

/** A transaction under a lock of the account, which must be open, and its access must not have ended. */
export function inOpenAccount<T, Refusal>(
  database: Database,
  account: AccountId,
  access: Access | undefined,
  work: (sql: Sql) => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal | AccessRefused>> {
  return database.transaction<T, Refusal | AccessRefused>(async (sql) => {
    const locked = await lockToBegin(sql, database.dialect, account, access);
    return locked.isErr() ? err(locked.error) : work(sql);
  });
}
