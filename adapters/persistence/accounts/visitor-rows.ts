import type { Account, Email } from "../../../domain/accounts/account.js";
import type { Session } from "../../../domain/accounts/session.js";
import type { AccountId } from "../../../domain/ids.js";
import { optional, text } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";
import { toAccount, toSession } from "./account-rows.js";

const ACCOUNT = "id, email, created_at, suspended_at, suspension_reason";

/** What a start, and each page and each form, reads of accounts. */
export function accountReads({ sql }: Pick<Database, "sql">) {
  return {
    async isEmpty(): Promise<boolean> {
      return (await sql("select 1 from account limit 1")).length === 0;
    },
    async exists(id: AccountId): Promise<boolean> {
      return (await sql("select 1 from account where id = ?", [id])).length === 1;
    },
    async find(id: AccountId): Promise<Account | undefined> {
      const [row] = await sql(`select ${ACCOUNT} from account where id = ?`, [id]);
      return row && toAccount(row);
    },
    async findByEmail(email: Email): Promise<{ account: Account; passwordHash: string | undefined } | undefined> {
      const [row] = await sql(`select ${ACCOUNT}, password_hash from account where email = ?`, [email]);
      return row && { account: toAccount(row), passwordHash: optional(row, "password_hash", text) };
    },
  };
}

export type AccountReads = ReturnType<typeof accountReads>;

/** What each page and each form reads of sessions. */
export function sessionReads({ sql }: Pick<Database, "sql">) {
  return {
    async find(tokenSha256: string): Promise<Session | undefined> {
      const columns = "token_sha256, account_id, created_at, expires_at";
      const [row] = await sql(`select ${columns} from session where token_sha256 = ?`, [tokenSha256]);
      return row && toSession(row);
    },
  };
}
