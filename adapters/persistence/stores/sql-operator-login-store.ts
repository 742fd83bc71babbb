import { ok } from "neverthrow";
import type { OperatorLoginStore } from "../../../application/ports/stores/operator-login-store.js";
import type { OperatorLogin, OperatorName, OperatorSession } from "../../../domain/accounts/operator.js";
import { branded, date, type Row, text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";

/** Logins of operators in SQLite or PostgreSQL. */
export class SqlOperatorLoginStore implements OperatorLoginStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async hasAny(): Promise<boolean> {
    return (await this.database.sql("select name from operator_login limit 1")).length > 0;
  }

  async find(name: OperatorName): Promise<OperatorLogin | undefined> {
    const [row] = await this.database.sql("select * from operator_login where name = ?", [name]);
    return row && toLogin(row);
  }

  async list(): Promise<OperatorLogin[]> {
    return (await this.database.sql("select * from operator_login order by name")).map(toLogin);
  }

  async put({ name, passwordHash, codeSecret, createdAt }: OperatorLogin): Promise<void> {
    await this.database.transaction<void, never>(async (sql) => {
      await sql(
        `insert into operator_login (name, password_hash, code_secret, code_step, created_at) values (?, ?, ?, 0, ?)
        on conflict (name) do update set password_hash = excluded.password_hash, code_secret = excluded.code_secret,
        code_step = case when operator_login.code_secret = excluded.code_secret then operator_login.code_step else 0 end,
        created_at = excluded.created_at`,
        [name, passwordHash, codeSecret, createdAt],
      );
      await sql("delete from operator_session where operator = ?", [name]);
      return ok(undefined);
    });
  }

  async remove(name: OperatorName): Promise<boolean> {
    const removed = await this.database.transaction<boolean, never>(async (sql) => {
      const rows = await sql("delete from operator_login where name = ? returning name", [name]);
      await sql("delete from operator_session where operator = ?", [name]);
      return ok(rows.length > 0);
    });
    return removed._unsafeUnwrap();
  }

  async useCode(name: OperatorName, step: number): Promise<boolean> {
    const used = await this.database.sql(
      "update operator_login set code_step = ? where name = ? and code_step < ? returning name",
      [step, name, step],
    );
    return used.length > 0;
  }

  async insertSession({ tokenSha256, expiresAt, operator }: OperatorSession, passwordHash: string): Promise<boolean> {
    // The lock keeps out a change of the password that is not committed. SQLite has one writer.
    const lock = this.database.dialect === "postgresql" ? "for share" : "";
    const inserted = await this.database.sql(
      `insert into operator_session (token_sha256, operator, expires_at)
      select ?, name, ? from operator_login where name = ? and password_hash = ? ${lock} returning operator`,
      [tokenSha256, expiresAt, operator, passwordHash],
    );
    return inserted.length > 0;
  }

  async findSession(tokenSha256: string): Promise<OperatorSession | undefined> {
    const [row] = await this.database.sql("select * from operator_session where token_sha256 = ?", [tokenSha256]);
    return (
      row && {
        tokenSha256: text(row, "token_sha256"),
        operator: branded<OperatorName>(row, "operator"),
        expiresAt: date(row, "expires_at"),
      }
    );
  }

  async deleteSession(tokenSha256: string): Promise<void> {
    await this.database.sql("delete from operator_session where token_sha256 = ?", [tokenSha256]);
  }

  async deleteExpiredSessions(now: Date): Promise<void> {
    await this.database.sql("delete from operator_session where expires_at <= ?", [now]);
  }
}

const toLogin = (row: Row): OperatorLogin => ({
  name: branded<OperatorName>(row, "name"),
  passwordHash: text(row, "password_hash"),
  codeSecret: text(row, "code_secret"),
  createdAt: date(row, "created_at"),
});
