import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type {
  AccountSummary,
  OperatorFilter,
  OperatorStore,
  TaskOfAccount,
  TaskRecord,
} from "../../../application/ports/stores/operator-store.js";
import type { Email, Suspension } from "../../../domain/accounts/account.js";
import type { ApiKey, ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { KeyLimits } from "../../../domain/accounts/key-limits.js";
import type { AdjustmentReference } from "../../../domain/credits/adjustment.js";
import type { Credits } from "../../../domain/credits/credits.js";
import type { Booking, Funds } from "../../../domain/credits/funds.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { DeletedBy } from "../../../domain/tasks/out-of-sight.js";
import { bookEntry, fundsOf, storeBooked } from "../credits/book-entry.js";
import { toLedgerEntry } from "../credits/ledger-rows.js";
import { TO_BE_ERASED } from "../database/schema/indexed-conditions.js";
import { branded, date, integer, optional, type Row, text } from "../database/sql/columns.js";
import type { Database, Sql } from "../database/sql/database.js";
import { narrowedTo, olderThan, update } from "../database/sql/statement.js";
import { toTask } from "../tasks/task-rows.js";
import { limitColumns, OPENING_COLUMNS, openingStandingOf, toAccount, toApiKey } from "./account-rows.js";
import { deleteAccess } from "./delete-access.js";
import { eraseEmail, eraseEmailInPages, eraseEvents, eraseTasks } from "./erase-account.js";
import { lockAccount } from "./lock-account.js";

/** Queries and changes of operators, in SQLite or PostgreSQL. */
export class SqlOperatorStore implements OperatorStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async accounts(limit: number, before: AccountId | undefined): Promise<AccountSummary[]> {
    const older = olderThan(before);
    const select = `select ${ACCOUNT_COLUMNS} from account where true ${older.text} order by id desc limit ?`;
    const rows = await this.database.sql(select, [...older.parameters, limit]);
    return rows.map(toSummary);
  }

  async account(id: AccountId): Promise<AccountSummary | undefined> {
    const [row] = await this.database.sql(`select ${ACCOUNT_COLUMNS} from account where id = ?`, [id]);
    return row && toSummary(row);
  }

  async task(id: TaskId): Promise<TaskOfAccount | undefined> {
    const [row] = await this.database.sql("select * from task where id = ?", [id]);
    return row && toTaskOfAccount(row);
  }

  async record(idOrSlug: string): Promise<TaskRecord | undefined> {
    const [row] = await this.database.sql("select * from task where id = ? or slug = ?", [idOrSlug, idOrSlug]);
    return row && toTaskRecord(row);
  }

  async tasks(
    account: AccountId,
    limit: number,
    before: TaskId | undefined,
    { key, state, reason, from, until }: OperatorFilter = {},
  ): Promise<TaskOfAccount[]> {
    const narrowed = narrowedTo({
      "id <": before,
      "api_key_id =": key,
      "state =": state,
      "failure_reason =": reason,
      "reserved_at >=": from,
      "reserved_at <": until,
    });
    const select = `select * from task where account_id = ? ${narrowed.text} order by id desc limit ?`;
    const rows = await this.database.sql(select, [account, ...narrowed.parameters, limit]);
    return rows.map(toTaskOfAccount);
  }

  async unusedUploads(accountId: AccountId) {
    const select = "select name, uploaded_at from reference_upload where account_id = ? order by uploaded_at, name";
    const rows = await this.database.sql(select, [accountId]);
    return rows.map((row) => ({ name: branded<ObjectName>(row, "name"), uploadedAt: date(row, "uploaded_at") }));
  }

  adjust<Refusal>(
    account: AccountId,
    decide: (funds: Funds, known: LedgerEntry | undefined) => Result<Booking, Refusal>,
    reference?: AdjustmentReference,
  ): Promise<Result<Credits, Refusal>> {
    return this.database.transaction(async (sql) => {
      const { current } = await lockAccount(sql, account);
      const ofReference = "select * from ledger_entry where account_id = ? and reference = ?";
      const [known] = reference === undefined ? [] : await sql(ofReference, [account, reference]);
      const decided = decide(fundsOf(current), known && toLedgerEntry(known));
      if (decided.isErr()) return err(decided.error);
      await storeBooked(sql, account, decided.value);
      return ok(decided.value.funds.credits);
    });
  }

  async suspend(id: AccountId, suspension: Suspension | undefined): Promise<Result<void, NotFound>> {
    const changed = await this.database.sql(
      `update account set suspended_at = cast(? as timestamptz), suspension_reason = ?
      where id = ? and closed_at is null returning id`,
      [suspension?.at ?? null, suspension?.reason ?? null, id],
    );
    return changed.length === 1 ? ok(undefined) : err(notFound(`There is no open account ${id}.`));
  }

  async key(id: ApiKeyId): Promise<ApiKey | undefined> {
    const [row] = await this.database.sql("select * from api_key where id = ?", [id]);
    return row && toApiKey(row);
  }

  async keyWithSecret(secretSha256: string): Promise<ApiKey | undefined> {
    const [row] = await this.database.sql("select * from api_key where secret_sha256 = ?", [secretSha256]);
    return row && toApiKey(row);
  }

  setKeyLimits<Refusal>(
    id: ApiKeyId,
    decide: (limits: KeyLimits) => Result<KeyLimits, Refusal>,
  ): Promise<Result<ApiKey, NotFound | Refusal>> {
    return this.database.transaction<ApiKey, NotFound | Refusal>(async (sql) => {
      // An update without changes locks the row on both dialects.
      const [row] = await sql("update api_key set scopes = scopes where id = ? returning *", [id]);
      if (row === undefined) return err(notFound(`There is no key ${id}.`));
      const key = toApiKey(row);
      const decided = decide(key.limits);
      if (decided.isErr()) return err(decided.error);
      const { scopes, ...others } = limitColumns(decided.value);
      // Scopes of a newer version stay, if nothing changes the others.
      const changed = { ...others, ...(scopes !== limitColumns(key.limits).scopes && { scopes }) };
      const { text: statement, parameters } = update("api_key", changed, { id });
      await sql(statement, parameters);
      return ok({ ...key, limits: decided.value });
    });
  }

  async close<Refusal>(
    id: AccountId,
    email: Email,
    now: Date,
    decide: (standing: Standing) => Result<LedgerEntry | undefined, Refusal>,
  ): Promise<Result<void, Refusal>> {
    const known = await emailOf(this.database.sql, id);
    // Before the transaction: the log may be longer than one statement may take.
    const erasedUntil = await eraseEmailInPages(this.database, known, email);
    const closed = await this.database.transaction<boolean, Refusal>(async (sql) => {
      const { current } = await lockAccount(sql, id);
      const decided = decide(current);
      if (decided.isErr()) return err(decided.error);
      if (decided.value !== undefined) await bookEntry(sql, current, decided.value);
      const before = await emailOf(sql, id);
      if (before !== known) return ok(false);
      await deleteAccess(sql, id, before);
      await sql(
        `update account set email = ?, password_hash = null, low_balance_threshold = null, erased_at = null,
        closed_at = coalesce(closed_at, ?) where id = ?`,
        [email, now, id],
      );
      const ofKeys = "api_key_id in (select id from api_key where account_id = ?)";
      await sql(`delete from key_spending where ${ofKeys}`, [id]);
      await sql("delete from api_key where account_id = ?", [id]);
      await sql("delete from idempotency_key where account_id = ?", [id]);
      await sql("update webhook_endpoint set off_at = ?, off_reason = 'deleted' where account_id = ?", [now, id]);
      await sql(
        `update webhook_delivery set state = 'failed', due_at = null, ended_at = ?
        where account_id = ? and due_at is not null`,
        [now, id],
      );
      await eraseEmail(sql, before, email, { after: erasedUntil });
      return ok(true);
    });
    if (closed.isErr()) return err(closed.error);
    return closed.value ? ok(undefined) : this.close(id, email, now, decide); // its address was changed meanwhile
  }

  eraseTasks(account: AccountId, after: TaskId | undefined, limit: number, now: Date): Promise<TaskId | undefined> {
    return eraseTasks(this.database, account, after, limit, now);
  }

  eraseEvents(account: AccountId, limit: number): Promise<boolean> {
    return eraseEvents(this.database, account, limit);
  }

  async recordErased(id: AccountId, now: Date): Promise<void> {
    await this.database.sql("update account set erased_at = ? where id = ?", [now, id]);
  }

  async closedNotErased(limit: number): Promise<AccountId[]> {
    const select = `select id from account where ${TO_BE_ERASED} order by closed_at limit ?`;
    return (await this.database.sql(select, [limit])).map((row) => branded<AccountId>(row, "id"));
  }
}

const ACCOUNT_COLUMNS = `id, email, created_at, closed_at, suspended_at, credits, ${OPENING_COLUMNS}`;

async function emailOf(sql: Sql, id: AccountId): Promise<Email> {
  const [row] = await sql("select id, email from account where id = ?", [id]);
  if (row === undefined) throw new Error(`there is no account ${id}`);
  return branded<Email>(row, "email");
}

function toSummary(row: Row): AccountSummary {
  const known = toAccount(row);
  return { account: known, standing: openingStandingOf(known.id, row), closedAt: optional(row, "closed_at", date) };
}

function toTaskOfAccount(row: Row): TaskOfAccount {
  return { task: toTask(row), isDeleted: row.deleted_at !== null };
}

function toTaskRecord(row: Row): TaskRecord {
  const deletedAt = optional(row, "deleted_at", date);
  const hiddenAt = optional(row, "hidden_at", date);
  return {
    ...toTaskOfAccount(row),
    times: {
      startedAt: optional(row, "started_at", date),
      submittedAt: optional(row, "submitted_at", date),
      generatedAt: optional(row, "generated_at", date),
      savedAt: optional(row, "saved_at", date),
      expiredAt: optional(row, "expired_at", date),
    },
    upstreamTaskId: optional(row, "upstream_task_id", text),
    submissions: integer(row, "submissions"),
    imageAttempts: optional(row, "failed_attempts", integer) ?? 0,
    dueAt: optional(row, "due_at", date),
    deleted: deletedAt && { at: deletedAt, by: optional(row, "deleted_by", branded<DeletedBy>) },
    hidden: hiddenAt && {
      at: hiddenAt,
      reason: text(row, "hidden_reason"),
      by: optional(row, "hidden_by", text),
    },
  };
}
