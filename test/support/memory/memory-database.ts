import type { Account, AccountId, Standing } from "../../../domain/account.js";
import type { ApiKey, ApiKeyId } from "../../../domain/api-key.js";
import type { IdempotencyKey } from "../../../domain/idempotency.js";
import type { LedgerEntry } from "../../../domain/ledger.js";
import type { Order, OrderId } from "../../../domain/order.js";
import type { Task } from "../../../domain/task.js";
import type { TaskId } from "../../../domain/task-id.js";

type StoredAccount = { account: Account; passwordHash: string | undefined; standing: Standing; lastTurn: number };
type StoredTask = { task: Task; dueAt: Date | undefined; fence: number; hidden: boolean };
type StoredIdempotencyKey = {
  accountId: AccountId;
  key: IdempotencyKey;
  taskId: TaskId;
  requestSha256: string;
  createdAt: Date;
};

/** What both in-memory stores share. A method that does not wait is a transaction: nothing runs beside it. */
export class MemoryDatabase {
  readonly accounts = new Map<AccountId, StoredAccount>();
  readonly orders = new Map<OrderId, Order>();
  readonly keys = new Map<ApiKeyId, ApiKey>();
  readonly tasks = new Map<TaskId, StoredTask>();
  /** The turn of the queue that was served last. */
  round = 1;
  readonly ledger: LedgerEntry[] = [];
  idempotencyKeys: StoredIdempotencyKey[] = [];

  /** An account that must be there: asking for another one is a bug. */
  account(id: AccountId): StoredAccount {
    const stored = this.accounts.get(id);
    if (stored === undefined) throw new Error(`there is no account ${id}`);
    return stored;
  }

  tasksOf(owner: AccountId): Task[] {
    return [...this.tasks.values()].map(({ task }) => task).filter(({ accountId }) => accountId === owner);
  }

  ledgerOf(owner: AccountId): LedgerEntry[] {
    return this.ledger.filter(({ accountId }) => accountId === owner);
  }
}
