import { err, type Result } from "neverthrow";
import type { Access, AccessRefused } from "../../../application/ports/stores/access.js";
import type { AccountId } from "../../../domain/ids.js";
import { inUnitOfWork } from "../database/orm/entities.js";
import type { Database } from "../database/sql/database.js";
import { lockToBegin } from "./lock-account.js";

/** `inUnitOfWork` under a lock of the account, which must be open, and its access must not have ended. */
export function inOpenAccount<T, Refusal>(
  database: Database,
  account: AccountId,
  access: Access | undefined,
  work: (...unit: Parameters<Parameters<typeof inUnitOfWork>[1]>) => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal | AccessRefused>> {
  return inUnitOfWork<T, Refusal | AccessRefused>(database, async (manager, sql) => {
    const locked = await lockToBegin(sql, database.dialect, account, access);
    return locked.isErr() ? err(locked.error) : work(manager, sql);
  });
}
