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
import { type Credits, credits } from "../../../domain/credits/credits.js";
import type { AdjustmentReference, Booked, Funds, LedgerEntry } from "../../../domain/credits/ledger.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { EndpointId } from "../../../domain/webhooks/webhook-endpoint.js";
import type { MemoryDatabase } from "./memory-database.js";

/** What operators ask for, in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryOperatorStore implements OperatorStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async accounts(limit: number, before: AccountId | undefined): Promise<AccountSummary[]> {
    return this.newestFirst()
      .filter(({ account }) => before === undefined || account.id < before)
      .slice(0, limit);
  }

  async account(id: AccountId): Promise<AccountSummary | undefined> {
    return this.newestFirst().find(({ account }) => account.id === id);
  }

  async task(id: TaskId): Promise<TaskOfAccount | undefined> {
    const stored = this.database.tasks.get(id);
    return stored && { task: stored.task, isHidden: stored.hidden };
  }

  async record(idOrSlug: string): Promise<TaskRecord | undefined> {
    const stored = [...this.database.tasks.values()].find(({ task }) => task.id === idOrSlug || task.slug === idOrSlug);
    if (stored === undefined) return undefined;
    const { task, hidden: isHidden, hiddenAt, times, accepted, dueAt, deletedBy, withheld } = stored;
    return {
      task,
      isHidden,
      times: { ...times, submittedAt: "submittedAt" in task ? task.submittedAt : accepted?.submittedAt },
      upstreamTaskId: "upstreamTaskId" in task ? task.upstreamTaskId : accepted?.upstreamTaskId,
      submissions: "submissions" in task ? task.submissions : 0,
      imageAttempts: task.state === "succeeded" && task.image.status === "uploading" ? task.image.failedAttempts : 0,
      dueAt,
      deleted: hiddenAt && { at: hiddenAt, by: deletedBy },
      withheld,
    };
  }

  async tasks(
    account: AccountId,
    limit: number,
    before: TaskId | undefined,
    { key, state, reason, from, until }: OperatorFilter = {},
  ): Promise<TaskOfAccount[]> {
    return this.tasksOf(account)
      .filter(({ task }) => before === undefined || task.id < before)
      .filter(({ task }) => key === undefined || task.apiKeyId === key)
      .filter(({ task }) => state === undefined || task.state === state)
      .filter(({ task }) => reason === undefined || (task.state === "failed" && task.reason === reason))
      .filter(({ task }) => from === undefined || task.reservedAt >= from)
      .filter(({ task }) => until === undefined || task.reservedAt < until)
      .reverse()
      .slice(0, limit)
      .map(({ task, hidden }) => ({ task, isHidden: hidden }));
  }

  async unusedUploads(account: AccountId): Promise<{ name: ObjectName; uploadedAt: Date }[]> {
    return this.database.uploads
      .filter(({ accountId }) => accountId === account)
      .map(({ name, uploadedAt }) => ({ name, uploadedAt }));
  }

  async adjust<Refusal>(
    account: AccountId,
    decide: (funds: Funds, known: LedgerEntry | undefined) => Result<Booked, Refusal>,
    reference?: AdjustmentReference,
  ): Promise<Result<Credits, Refusal>> {
    const { credits: balance, debt = credits(0) } = this.database.account(account).standing;
    const known = this.database
      .ledgerOf(account)
      .find((entry) => entry.kind === "adjustment" && reference !== undefined && entry.reference === reference);
    return decide({ credits: balance, debt }, known).map((booked) => {
      this.database.storeBooked(account, booked);
      return booked.funds.credits;
    });
  }

  async suspend(id: AccountId, suspension: Suspension | undefined): Promise<void> {
    const stored = this.database.account(id);
    const { suspension: _, ...account } = stored.account;
    const { suspensionReason: __, ...standing } = stored.standing;
    stored.account = suspension === undefined ? account : { ...account, suspension };
    stored.standing = suspension === undefined ? standing : { ...standing, suspensionReason: suspension.reason };
  }

  async key(id: ApiKeyId): Promise<ApiKey | undefined> {
    return this.database.keys.get(id);
  }

  async keyWithSecret(secretSha256: string): Promise<ApiKey | undefined> {
    return [...this.database.keys.values()].find((key) => key.secretSha256 === secretSha256);
  }

  /** What the key has spent is summed from its tasks, always. */
  async setKeyLimits(id: ApiKeyId, limits: KeyLimits): Promise<Result<void, NotFound>> {
    const key = this.database.keys.get(id);
    if (key === undefined) return err(notFound(`There is no key ${id}.`));
    this.database.keys.set(id, { ...key, limits });
    return ok(undefined);
  }

  async close<Refusal>(
    account: AccountId,
    email: Email,
    now: Date,
    decide: (standing: Standing) => Result<LedgerEntry | undefined, Refusal>,
  ): Promise<Result<void, Refusal>> {
    const { database } = this;
    const stored = database.account(account);
    const { account: before } = stored;
    const decided = decide(stored.standing);
    if (decided.isErr()) return err(decided.error);
    const entry = decided.value;
    if (entry !== undefined) database.book(entry);
    const { lowBalanceThreshold: _, ...standing } = stored.standing;
    stored.standing = standing;
    database.changePassword(stored, "");
    stored.passwordHash = undefined;
    stored.account = { ...before, email };
    stored.closedAt ??= now;
    stored.erasedAt = undefined;
    for (const [id, key] of database.keys) if (key.accountId === account) database.keys.delete(id);
    database.idempotencyKeys = database.idempotencyKeys.filter((key) => key.accountId !== account);
    for (const endpoint of database.endpoints.values()) {
      if (endpoint.accountId !== account) continue;
      database.endpoints.set(endpoint.id, { ...endpoint, off: { at: now, reason: "deleted" } });
    }
    for (const [index, action] of database.operatorActions.entries()) {
      const replaced = Object.entries(action.arguments).map(([name, value]) => [
        name,
        value === before.email ? email : value,
      ]);
      database.operatorActions[index] = { ...action, arguments: Object.fromEntries(replaced) };
    }
    return ok(undefined);
  }

  async eraseTasks(
    account: AccountId,
    after: TaskId | undefined,
    limit: number,
    now: Date,
  ): Promise<TaskId | undefined> {
    const page = this.tasksOf(account)
      .filter(({ task }) => after === undefined || task.id > after)
      .slice(0, limit);
    for (const stored of page) {
      const { task } = stored;
      if (!stored.hidden) {
        stored.hidden = true;
        stored.hiddenAt = now;
        stored.deletedBy = "operator";
        stored.dueAt = task.state === "succeeded" ? now : undefined;
      }
      const { resolution } = task.request;
      const request = { resolution, visibility: "private", imageUrls: [], metadata: {} };
      stored.task = {
        ...stored.task,
        apiKeyId: undefined,
        request: request as unknown as typeof task.request,
      };
      this.database.releaseReferences(task.id, account, new Date(0));
    }
    return page.at(-1)?.task.id;
  }

  async eraseEvents(account: AccountId, limit: number): Promise<boolean> {
    const { database } = this;
    const erased = new Set(database.events.filter(({ accountId }) => accountId === account).slice(0, limit));
    database.deliveries = database.deliveries.filter(
      ({ event }) => event.accountId !== account || ![...erased].some(({ number }) => number === event.number),
    );
    database.events = database.events.filter((event) => !erased.has(event));
    if (erased.size > 0) return true;
    const isOwnLane = (name: string) =>
      name.startsWith(`${account} `) || database.endpoints.get(name as EndpointId)?.accountId === account;
    for (const name of database.receivers.keys()) if (isOwnLane(name)) database.receivers.delete(name);
    for (const [id, { accountId }] of database.endpoints) if (accountId === account) database.endpoints.delete(id);
    for (const upload of database.uploads) if (upload.accountId === account) upload.uploadedAt = new Date(0);
    return false;
  }

  async recordErased(account: AccountId, now: Date): Promise<void> {
    this.database.account(account).erasedAt = now;
  }

  async toErase(limit: number): Promise<AccountId[]> {
    return [...this.database.accounts.values()]
      .flatMap(({ account: { id }, closedAt, erasedAt }) =>
        closedAt === undefined || erasedAt !== undefined ? [] : [{ id, closedAt }],
      )
      .sort((a, b) => a.closedAt.getTime() - b.closedAt.getTime())
      .slice(0, limit)
      .map(({ id }) => id);
  }

  private newestFirst(): AccountSummary[] {
    return [...this.database.accounts.values()]
      .map(({ account, standing, closedAt }) => ({ account, standing, closedAt }))
      .sort((a, b) => (a.account.id < b.account.id ? 1 : -1));
  }

  /** Oldest first. */
  private tasksOf(account: AccountId) {
    return [...this.database.tasks.values()]
      .filter(({ task }) => task.accountId === account)
      .sort((a, b) => (a.task.id < b.task.id ? -1 : 1));
  }
}
