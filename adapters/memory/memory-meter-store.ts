import type { MeterLine, MeterQuery, MeterReading, MeterStore } from "../../application/ports/stores/meter-store.js";
import type { Hold, OpenHold } from "../../domain/credits/hold.js";
import type { IdempotencyKey } from "../../domain/credits/idempotency.js";
import { ledgerCursor } from "../../domain/credits/ledger-page.js";
import type { MeterEntry } from "../../domain/credits/meter-entry.js";
import type { AdmissionLog } from "../../domain/credits/rate-limit.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { taskId } from "../../domain/ids.js";

class MemoryAccount {
  credits = 0;
  readonly holds = new Map<TaskId, Hold>();
  readonly open = new Map<TaskId, OpenHold>();
  readonly byKey = new Map<IdempotencyKey, TaskId>();
  readonly logs = new Map<string, AdmissionLog>();
  readonly entriesByKey = new Map<string, MeterEntry>();
  readonly lines: MeterLine[] = [];
}

/**
 * A meter's accounts in this process: for tests, and for products that may forget everything when they end. Nothing is
 * ever deleted. `now` and `newId` replace the clock and the random ids.
 */
export const memoryMeterStore = ({
  now = () => new Date(),
  newId = () => crypto.randomUUID(),
}: {
  readonly now?: () => Date;
  /** Text that can be a task id, different at each call. */
  readonly newId?: () => string;
} = {}): MeterStore => {
  const accounts = new Map<AccountId, MemoryAccount>();
  return {
    // Runs without an `await`, so it is atomic.
    change(accountId, query, decide) {
      const account = accounts.get(accountId) ?? new MemoryAccount();
      const { change, answer } = decide({
        ...readingOf(account, query, now()),
        newTaskId: taskId(newId()),
        log: (query.rate === undefined ? undefined : account.logs.get(query.rate)) ?? [],
        entry: query.entryKey && account.entriesByKey.get(query.entryKey),
      });
      if (change === undefined) return answer;
      accounts.set(accountId, account);
      account.credits = change.credits;
      for (const hold of change.holds) store(account, hold);
      for (const entry of change.entries) {
        account.lines.push({ cursor: ledgerCursor(account.lines.length + 1), entry });
        const key = entry.kind === "purchase" ? entry.orderId : entry.idempotencyKey;
        if (key !== undefined) account.entriesByKey.set(key, entry);
      }
      if (change.log !== undefined && query.rate !== undefined) account.logs.set(query.rate, change.log);
      return answer;
    },

    read: (accountId, query) => readingOf(accounts.get(accountId) ?? new MemoryAccount(), query, now()),

    entries(accountId, limit, before) {
      const lines = accounts.get(accountId)?.lines ?? [];
      return lines
        .slice(0, before === undefined ? lines.length : before - 1)
        .slice(-limit)
        .reverse();
    },
  };
};

const readingOf = (account: MemoryAccount, { taskId, idempotencyKey }: MeterQuery, now: Date): MeterReading => {
  const found = idempotencyKey === undefined ? taskId : account.byKey.get(idempotencyKey);
  return { now, credits: account.credits, open: [...account.open.values()], hold: found && account.holds.get(found) };
};

const store = (account: MemoryAccount, hold: Hold): void => {
  const { reservation, idempotent } = hold;
  const isNew = !account.holds.has(reservation.taskId);
  account.holds.set(reservation.taskId, hold);
  if (isOpen(hold)) account.open.set(reservation.taskId, hold);
  else account.open.delete(reservation.taskId);
  if (isNew && idempotent !== undefined) account.byKey.set(idempotent.key, reservation.taskId);
};

const isOpen = (hold: Hold): hold is OpenHold => hold.reservation.state === "held";
