import type {
  AccountLedger,
  LedgerLine,
  LedgerPart,
  LedgerStore,
} from "../../../application/ports/stores/ledger-store.js";
import { type Credits, type CreditTotals, credits } from "../../../domain/credits/credits.js";
import { type LedgerCursor, type LedgerEntry, ledgerCursor } from "../../../domain/credits/ledger.js";
import type { Reservation } from "../../../domain/credits/reservation.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { MemoryDatabase } from "./memory-database.js";

/** The ledger in memory. */
export class MemoryLedgerStore implements LedgerStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async balance(account: AccountId): Promise<Credits> {
    return this.database.account(account).standing.credits;
  }

  async totals(account: AccountId): Promise<CreditTotals> {
    const { credits: remaining, debt } = this.database.account(account).standing;
    const sum = (state: Reservation["state"]): Credits =>
      this.database
        .tasksOf(account)
        .reduce(
          (sum, { reservation }) => (reservation.state === state ? sum + reservation.credits : sum),
          0,
        ) as Credits;
    return { remaining, reserved: sum("held"), spent: sum("captured"), debt };
  }

  async entries(account: AccountId): Promise<LedgerEntry[]> {
    return this.database.ledgerOf(account);
  }

  async ofTask(task: TaskId): Promise<LedgerEntry[]> {
    return this.database.ledger.filter((entry) => "taskId" in entry && entry.taskId === task);
  }

  async list(account: AccountId, limit: number, before: LedgerCursor | undefined): Promise<LedgerLine[]> {
    const balance = this.database.accounts.get(account)?.standing.credits ?? credits(0);
    const keyOf = (entry: LedgerEntry) =>
      "taskId" in entry ? this.database.tasks.get(entry.taskId)?.task.apiKeyId : undefined;
    return this.database.ledger
      .map((entry, index) => ({ cursor: ledgerCursor(index + 1), entry, balance, apiKeyId: keyOf(entry) }))
      .filter(({ cursor, entry }) => entry.accountId === account && (before === undefined || cursor < before))
      .reverse()
      .slice(0, limit);
  }

  async walk(visit: (part: LedgerPart) => void): Promise<void> {
    for (const [accountId, { standing }] of this.database.accounts) {
      const entries = this.database.ledgerOf(accountId);
      const tasks = this.database.tasksOf(accountId);
      const ids = new Set<unknown>(tasks.map(({ id }) => id));
      const isOfTask = (entry: LedgerEntry) => "taskId" in entry && ids.has(entry.taskId);
      visit({ kind: "standing", accountId, standing });
      visit({ kind: "tasks", accountId, tasks, entries: entries.filter(isOfTask) });
      visit({ kind: "entries", accountId, entries: entries.filter((entry) => !isOfTask(entry)) });
      const orders = [...this.database.orders.values()].filter((order) => order.accountId === accountId);
      visit({ kind: "orders", accountId, orders: orders.filter(({ state }) => state !== "pending") });
      visit({ kind: "end", accountId });
    }
  }

  async *all(): AsyncIterable<AccountLedger> {
    for (const [id, stored] of this.database.accounts) {
      const { accountId, credits, activeTasks, debt } = stored.standing;
      yield {
        standing: { accountId, credits, activeTasks, ...(debt !== undefined && { debt }) },
        entries: this.database.ledgerOf(id),
        tasks: this.database.tasksOf(id),
      };
    }
  }
}
