import { type InferEntity, LockMode, raw } from "@mikro-orm/core";
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
import type { Booked, Funds } from "../../../domain/credits/funds.js";
import type { LedgerEntry } from "../../../domain/credits/ledger.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { DeletedBy } from "../../../domain/tasks/out-of-sight.js";
import { bookEntry, fundsOf, storeBooked } from "../credits/book-entry.js";
import { toLedgerEntry } from "../credits/ledger-rows.js";
import { changeEntities, EntityStore, inUnitOfWork, rowOf } from "../database/orm/entities.js";
import { TO_BE_ERASED } from "../database/schema/indexed-conditions.js";
import {
  AccountTable,
  ApiKeyTable,
  EventTable,
  IdempotencyKeyTable,
  KeySpendingTable,
  LedgerEntryTable,
  ReferenceUploadTable,
  TaskTable,
  WebhookDeliveryTable,
  WebhookEndpointTable,
} from "../database/schema/schema.js";
import { branded, date, integer, optional, text } from "../database/sql/columns.js";
import { toTask } from "../tasks/task-rows.js";
import { openingStandingOf, toAccount } from "./account-rows.js";
import { limitsOf, toApiKey } from "./api-key-entity.js";
import { deleteAccess } from "./delete-access.js";
import { eraseEmail, eraseEmailInPages, eraseLanes, eraseTasks } from "./erase-account.js";
import { lockAccount } from "./lock-account.js";

/** Queries and changes of operators, in SQLite or PostgreSQL. */
export class SqlOperatorStore extends EntityStore implements OperatorStore {
  async accounts(limit: number, before: AccountId | undefined): Promise<AccountSummary[]> {
    const wanted = before === undefined ? {} : { id: { $lt: before } };
    const accounts = await this.entities.find(AccountTable, wanted, { orderBy: { id: "desc" }, limit });
    return accounts.map(toSummary);
  }

  async account(id: AccountId): Promise<AccountSummary | undefined> {
    const account = await this.entities.findOne(AccountTable, id);
    return account === null ? undefined : toSummary(account);
  }

  async task(id: TaskId): Promise<TaskOfAccount | undefined> {
    const task = await this.entities.findOne(TaskTable, id);
    return task === null ? undefined : toTaskOfAccount(task);
  }

  async record(idOrSlug: string): Promise<TaskRecord | undefined> {
    const task = await this.entities.findOne(TaskTable, { $or: [{ id: idOrSlug }, { slug: idOrSlug }] });
    return task === null ? undefined : toTaskRecord(task);
  }

  async tasks(
    account: AccountId,
    limit: number,
    before: TaskId | undefined,
    { key, state, reason, from, until }: OperatorFilter = {},
  ): Promise<TaskOfAccount[]> {
    const wanted = {
      accountId: account,
      ...(before !== undefined && { id: { $lt: before } }),
      ...(key !== undefined && { apiKeyId: key }),
      ...(state !== undefined && { state }),
      ...(reason !== undefined && { failureReason: reason }),
      reservedAt: { ...(from !== undefined && { $gte: from }), ...(until !== undefined && { $lt: until }) },
    };
    const tasks = await this.entities.find(TaskTable, wanted, { orderBy: { id: "desc" }, limit });
    return tasks.map(toTaskOfAccount);
  }

  async unusedUploads(accountId: AccountId) {
    const orderBy = { uploadedAt: "asc", name: "asc" } as const;
    const uploads = await this.entities.find(ReferenceUploadTable, { accountId }, { orderBy });
    return uploads.map((one) => ({ name: branded<ObjectName>(one, "name"), uploadedAt: date(one, "uploadedAt") }));
  }

  adjust<Refusal>(
    account: AccountId,
    decide: (funds: Funds, known: LedgerEntry | undefined) => Result<Booked, Refusal>,
    reference?: AdjustmentReference,
  ): Promise<Result<Credits, Refusal>> {
    return inUnitOfWork(this.database, async (manager, sql) => {
      const { current } = await lockAccount(sql, account);
      const known =
        reference === undefined ? null : await manager.findOne(LedgerEntryTable, { accountId: account, reference });
      const decided = decide(
        fundsOf(current),
        known === null ? undefined : toLedgerEntry(rowOf(LedgerEntryTable, known)),
      );
      if (decided.isErr()) return err(decided.error);
      await storeBooked(sql, account, decided.value);
      return ok(decided.value.funds.credits);
    });
  }

  async suspend(id: AccountId, suspension: Suspension | undefined): Promise<Result<void, NotFound>> {
    const suspended = { suspendedAt: suspension?.at ?? null, suspensionReason: suspension?.reason ?? null };
    const changed = await this.entities.nativeUpdate(AccountTable, { id, closedAt: null }, suspended);
    return changed === 1 ? ok(undefined) : err(notFound(`There is no open account ${id}.`));
  }

  async key(id: ApiKeyId): Promise<ApiKey | undefined> {
    const key = await this.entities.findOne(ApiKeyTable, id);
    return key === null ? undefined : toApiKey(key);
  }

  async keyWithSecret(secretSha256: string): Promise<ApiKey | undefined> {
    const key = await this.entities.findOne(ApiKeyTable, { secretSha256 });
    return key === null ? undefined : toApiKey(key);
  }

  setKeyLimits<Refusal>(
    id: ApiKeyId,
    decide: (limits: KeyLimits) => Result<KeyLimits, Refusal>,
  ): Promise<Result<ApiKey, NotFound | Refusal>> {
    return inUnitOfWork<ApiKey, NotFound | Refusal>(this.database, async (manager) => {
      const row = await manager.findOne(ApiKeyTable, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (row === null) return err(notFound(`There is no key ${id}.`));
      const key = toApiKey(row);
      return decide(key.limits).map((limits) => {
        const { scopes, ...others } = limitsOf(limits);
        Object.assign(row, others, scopes !== limitsOf(key.limits).scopes && { scopes });
        return { ...key, limits };
      });
    });
  }

  async close<Refusal>(
    id: AccountId,
    email: Email,
    now: Date,
    decide: (standing: Standing) => Result<LedgerEntry | undefined, Refusal>,
  ): Promise<Result<void, Refusal>> {
    const open = await this.entities.findOneOrFail(AccountTable, id);
    const allowed = decide(openingStandingOf(id, rowOf(AccountTable, open)));
    if (allowed.isErr()) return err(allowed.error);
    const known = branded<Email>(open, "email");
    // Before the transaction: the log may be longer than one statement may take.
    const erasedUntil = await eraseEmailInPages(this.database, known, email);
    const closed = await inUnitOfWork<boolean, Refusal>(this.database, async (manager, sql) => {
      const { current } = await lockAccount(sql, id);
      const decided = decide(current);
      if (decided.isErr()) return err(decided.error);
      if (decided.value !== undefined) await bookEntry(sql, current, decided.value);
      const account = await manager.findOneOrFail(AccountTable, id);
      const before = branded<Email>(account, "email");
      if (before !== known) return ok(false);
      await deleteAccess(manager, id, before);
      Object.assign(account, { email, passwordHash: null, lowBalanceThreshold: null, erasedAt: null });
      account.closedAt ??= now;
      const ofAccount = { accountId: id };
      const keys = await manager.find(ApiKeyTable, ofAccount, { fields: ["id"] });
      await manager.nativeDelete(KeySpendingTable, { apiKeyId: { $in: keys.map((key) => key.id) } });
      await manager.nativeDelete(ApiKeyTable, ofAccount);
      await manager.nativeDelete(IdempotencyKeyTable, ofAccount);
      await manager.nativeUpdate(WebhookEndpointTable, ofAccount, { offAt: now, offReason: "deleted" });
      const pending = { ...ofAccount, dueAt: { $ne: null } };
      await manager.nativeUpdate(WebhookDeliveryTable, pending, { state: "failed", dueAt: null, endedAt: now });
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
    return changeEntities(this.database, async (manager, sql) => {
      await lockAccount(sql, account);
      const ofAccount = { accountId: account };
      const oldest = { fields: ["number"], orderBy: { number: "asc" }, offset: limit - 1, limit: 1 } as const;
      const [last] = await manager.find(EventTable, ofAccount, oldest);
      const erased = last === undefined ? ofAccount : { ...ofAccount, number: { $lte: last.number } };
      await manager.nativeDelete(WebhookDeliveryTable, erased);
      await manager.nativeDelete(EventTable, erased);
      if (last !== undefined) return true;
      await eraseLanes(sql, account);
      await manager.nativeDelete(WebhookEndpointTable, ofAccount);
      await manager.nativeUpdate(ReferenceUploadTable, ofAccount, { uploadedAt: new Date(0) });
      return false;
    });
  }

  async recordErased(id: AccountId, now: Date): Promise<void> {
    await this.entities.nativeUpdate(AccountTable, { id }, { erasedAt: now });
  }

  async closedNotErased(limit: number): Promise<AccountId[]> {
    const next = { fields: ["id"], orderBy: { closedAt: "asc" }, limit } as const;
    const accounts = await this.entities.find(AccountTable, { [raw(TO_BE_ERASED)]: [] }, next);
    return accounts.map((account) => branded<AccountId>(account, "id"));
  }
}

const toSummary = (account: InferEntity<typeof AccountTable>): AccountSummary => {
  const known = toAccount(account);
  return {
    account: known,
    standing: openingStandingOf(known.id, rowOf(AccountTable, account)),
    closedAt: optional(account, "closedAt", date),
  };
};

type TaskEntity = InferEntity<typeof TaskTable>;

const toTaskOfAccount = (task: TaskEntity): TaskOfAccount => ({
  task: toTask(rowOf(TaskTable, task)),
  isDeleted: task.deletedAt !== null,
});

const toTaskRecord = (task: TaskEntity): TaskRecord => {
  const deletedAt = optional(task, "deletedAt", date);
  const hiddenAt = optional(task, "hiddenAt", date);
  return {
    ...toTaskOfAccount(task),
    times: {
      startedAt: optional(task, "startedAt", date),
      submittedAt: optional(task, "submittedAt", date),
      generatedAt: optional(task, "generatedAt", date),
      savedAt: optional(task, "savedAt", date),
      expiredAt: optional(task, "expiredAt", date),
    },
    upstreamTaskId: optional(task, "upstreamTaskId", text),
    submissions: integer(task, "submissions"),
    imageAttempts: optional(task, "failedAttempts", integer) ?? 0,
    dueAt: optional(task, "dueAt", date),
    deleted: deletedAt && { at: deletedAt, by: optional(task, "deletedBy", branded<DeletedBy>) },
    hidden: hiddenAt && {
      at: hiddenAt,
      reason: text(task, "hiddenReason"),
      by: optional(task, "hiddenBy", text),
    },
  };
};
