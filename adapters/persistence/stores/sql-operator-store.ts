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
import type { Credits } from "../../../domain/credits/credits.js";
import type { AdjustmentReference, Booked, Funds, LedgerEntry } from "../../../domain/credits/ledger.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { DeletedBy } from "../../../domain/tasks/out-of-sight.js";
import { DUE_WHEN_HIDDEN } from "../due-when-hidden.js";
import { apiKeyRow, openingStandingOf, toAccount, toApiKey } from "../rows/account-rows.js";
import { bookEntry, fundsOf, storeBooked } from "../rows/book-entry.js";
import { deleteAccess } from "../rows/delete-access.js";
import { toLedgerEntry } from "../rows/ledger-rows.js";
import { lockAccount } from "../rows/lock-account.js";
import { TO_BE_ERASED } from "../schema/indexed-conditions.js";
import { branded, date, integer, optional, type Row, text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";
import { isAmong, listOf } from "../sql/dialect-sql.js";
import { olderThan, type Statement, update } from "../sql/statement.js";
import { deletePairs } from "../tasks/erase-texts.js";
import { updateSearch } from "../tasks/search-rows.js";
import { toTask } from "../tasks/task-rows.js";

/** What operators ask for, in SQLite or PostgreSQL. */
export class SqlOperatorStore implements OperatorStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  async accounts(limit: number, before: AccountId | undefined): Promise<AccountSummary[]> {
    const older = olderThan(before);
    const rows = await this.database.sql(`select * from account where true ${older.text} order by id desc limit ?`, [
      ...older.parameters,
      limit,
    ]);
    return rows.map(toSummary);
  }

  async account(id: AccountId): Promise<AccountSummary | undefined> {
    const [row] = await this.database.sql("select * from account where id = ?", [id]);
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
    filter: OperatorFilter = {},
  ): Promise<TaskOfAccount[]> {
    const older = olderThan(before);
    const wanted = conditionsOf(filter);
    const rows = await this.database.sql(
      `select * from task where account_id = ? ${older.text} ${wanted.text} order by id desc limit ?`,
      [account, ...older.parameters, ...wanted.parameters, limit],
    );
    return rows.map(toTaskOfAccount);
  }

  async unusedUploads(account: AccountId) {
    const rows = await this.database.sql(
      "select name, uploaded_at from reference_upload where account_id = ? order by uploaded_at, name",
      [account],
    );
    return rows.map((row) => ({ name: branded<ObjectName>(row, "name"), uploadedAt: date(row, "uploaded_at") }));
  }

  adjust<Refusal>(
    account: AccountId,
    decide: (funds: Funds, known: LedgerEntry | undefined) => Result<Booked, Refusal>,
    reference?: AdjustmentReference,
  ): Promise<Result<Credits, Refusal>> {
    return this.database.transaction(async (sql) => {
      const { current } = await lockAccount(sql, account);
      const [known] =
        reference === undefined
          ? []
          : await sql("select * from ledger_entry where account_id = ? and reference = ?", [account, reference]);
      const decided = decide(fundsOf(current), known && toLedgerEntry(known));
      if (decided.isErr()) return err(decided.error);
      await storeBooked(sql, account, decided.value);
      return ok(decided.value.funds.credits);
    });
  }

  async suspend(account: AccountId, suspension: Suspension | undefined): Promise<void> {
    const rows = await this.database.sql(
      "update account set suspended_at = ?, suspension_reason = ? where id = ? returning id",
      [suspension?.at ?? null, suspension?.reason ?? null, account],
    );
    if (rows.length === 0) throw new Error(`there is no account ${account}`);
  }

  async key(id: ApiKeyId): Promise<ApiKey | undefined> {
    const [row] = await this.database.sql("select * from api_key where id = ?", [id]);
    return row && toApiKey(row);
  }

  async keyWithSecret(secretSha256: string): Promise<ApiKey | undefined> {
    const [row] = await this.database.sql("select * from api_key where secret_sha256 = ?", [secretSha256]);
    return row && toApiKey(row);
  }

  setKeyLimits(id: ApiKeyId, limits: KeyLimits): Promise<Result<void, NotFound>> {
    return this.database.transaction(async (sql) => {
      const [row] = await sql("update api_key set name = name where id = ? returning *", [id]); // locks it
      if (row === undefined) return err(notFound(`There is no key ${id}.`));
      const { scopes, expires_at, credits_per_day, credits_per_month } = apiKeyRow({ ...toApiKey(row), limits });
      const { text: statement, parameters } = update(
        "api_key",
        { scopes, expires_at, credits_per_day, credits_per_month },
        { id },
      );
      await sql(statement, parameters);
      return ok(undefined);
    });
  }

  close<Refusal>(
    account: AccountId,
    email: Email,
    now: Date,
    decide: (standing: Standing) => Result<LedgerEntry | undefined, Refusal>,
  ): Promise<Result<void, Refusal>> {
    return this.database.transaction(async (sql) => {
      const { current } = await lockAccount(sql, account);
      const decided = decide(current);
      if (decided.isErr()) return err(decided.error);
      if (decided.value !== undefined) await bookEntry(sql, current, decided.value);
      const [row = {}] = await sql("select email from account where id = ?", [account]);
      const before = branded<Email>(row, "email");
      await sql(
        `update account set email = ?, password_hash = null, low_balance_threshold = null,
        closed_at = coalesce(closed_at, ?), erased_at = null where id = ?`,
        [email, now, account],
      );
      await deleteAccess(sql, account, before);
      const ofAccount = "(select id from api_key where account_id = ?)";
      await sql(`delete from key_spending where api_key_id in ${ofAccount}`, [account]);
      await sql("delete from api_key where account_id = ?", [account]);
      await sql("delete from idempotency_key where account_id = ?", [account]);
      await sql("update webhook_endpoint set off_at = ?, off_reason = 'deleted' where account_id = ?", [now, account]);
      await sql(
        "update webhook_delivery set state = 'failed', due_at = null, ended_at = ? where account_id = ? and due_at is not null",
        [now, account],
      );
      await sql("update operator_action set arguments = replace(arguments, ?, ?)", [
        JSON.stringify(before),
        JSON.stringify(email),
      ]);
      return ok(undefined);
    });
  }

  /** A page at a time: an account may have more tasks than one statement may change. */
  async eraseTasks(
    account: AccountId,
    after: TaskId | undefined,
    limit: number,
    now: Date,
  ): Promise<TaskId | undefined> {
    const { dialect } = this.database;
    const erased = await this.database.transaction<TaskId | undefined, never>(async (sql) => {
      await lockAccount(sql, account);
      const page = await sql(
        "select id, account_id, metadata from task where account_id = ? and id > ? order by id limit ?",
        [account, after ?? "", limit],
      );
      if (page.length === 0) return ok(undefined);
      const pageIds = page.map(({ id }) => id);
      const ids = listOf(pageIds, dialect);
      await sql(
        `update task set hidden_at = ?, deleted_by = 'operator', ${DUE_WHEN_HIDDEN}
        where account_id = ? and ${isAmong("id", dialect)} and hidden_at is null`,
        [now, now, account, ids],
      );
      await sql(
        `update task set prompt = null, image_urls = '[]', metadata = null, seed = null, webhook_url = null,
        visibility = 'private', api_key_id = null, traceparent = null, failure_detail = null, texts_erased_at = ? where ${isAmong("id", dialect)}`,
        [now, ids],
      );
      await updateSearch(sql, dialect, pageIds);
      for (const row of page) await deletePairs(sql, dialect, row);
      // Long ago: the images expire now.
      await sql(
        `insert into reference_upload (account_id, name, uploaded_at)
        select distinct cast(? as text), name, cast(? as timestamptz) from task_reference
        where ${isAmong("task_id", dialect)} on conflict (account_id, name) do nothing`,
        [account, new Date(0), ids],
      );
      await sql(`delete from task_reference where ${isAmong("task_id", dialect)}`, [ids]);
      return ok(branded<TaskId>(page.at(-1) ?? {}, "id"));
    });
    return erased._unsafeUnwrap();
  }

  async eraseEvents(account: AccountId, limit: number): Promise<boolean> {
    const erased = await this.database.transaction<boolean, never>(async (sql) => {
      await lockAccount(sql, account);
      const oldest = "(select number from event where account_id = ? order by number limit ?)";
      await sql(`delete from webhook_delivery where account_id = ? and number in ${oldest}`, [account, account, limit]);
      const events = await sql(`delete from event where account_id = ? and number in ${oldest} returning number`, [
        account,
        account,
        limit,
      ]);
      if (events.length > 0) return ok(true);
      await sql("delete from webhook_delivery where account_id = ?", [account]);
      // Its lanes are named by its endpoints, or by its id and an origin (event-rows.ts). Those of origins belong to
      // all.
      const lanes = `${account} `;
      await sql(
        `delete from webhook_receiver where name in (select id from webhook_endpoint where account_id = ?)
        or substr(name, 1, cast(? as integer)) = ?`,
        [account, lanes.length, lanes],
      );
      await sql("delete from webhook_endpoint where account_id = ?", [account]);
      await sql("update reference_upload set uploaded_at = ? where account_id = ?", [new Date(0), account]);
      return ok(false);
    });
    return erased._unsafeUnwrap();
  }

  async recordErased(account: AccountId, now: Date): Promise<void> {
    await this.database.sql("update account set erased_at = ? where id = ?", [now, account]);
  }

  async toErase(limit: number): Promise<AccountId[]> {
    const rows = await this.database.sql(`select id from account where ${TO_BE_ERASED} order by closed_at limit ?`, [
      limit,
    ]);
    return rows.map((row) => branded<AccountId>(row, "id"));
  }
}

const toSummary = (row: Row): AccountSummary => {
  const account = toAccount(row);
  return {
    account,
    standing: openingStandingOf(account.id, row),
    closedAt: optional(row, "closed_at", date),
  };
};

const toTaskOfAccount = (row: Row): TaskOfAccount => ({ task: toTask(row), isHidden: row.hidden_at !== null });

const toTaskRecord = (row: Row): TaskRecord => {
  const hiddenAt = optional(row, "hidden_at", date);
  const withheldAt = optional(row, "withheld_at", date);
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
    deleted: hiddenAt && { at: hiddenAt, by: optional(row, "deleted_by", branded<DeletedBy>) },
    withheld: withheldAt && {
      at: withheldAt,
      reason: text(row, "withheld_reason"),
      by: optional(row, "withheld_by", text),
    },
  };
};

const conditionsOf = ({ key, state, reason, from, until }: OperatorFilter): Statement => {
  const conditions: readonly (readonly [condition: string, value: unknown])[] = [
    ["api_key_id = ?", key],
    ["state = ?", state],
    ["failure_reason = ?", reason],
    ["reserved_at >= ?", from],
    ["reserved_at < ?", until],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  return {
    text: given.map(([condition]) => `and ${condition}`).join(" "),
    parameters: given.map(([, value]) => value),
  };
};
