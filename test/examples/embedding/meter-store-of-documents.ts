// A meter's store on a database of documents: one document for each account, which is read and written as a whole.
import { randomUUID } from "node:crypto";
import type { MeterChange, MeterQuery, MeterRecord, MeterStore } from "panorama-core/application/ports/meter-store";
import type { AccountId } from "panorama-core/domain/account-id";
import { type Credits, credits } from "panorama-core/domain/credits";
import type { Hold } from "panorama-core/domain/hold";
import { type LedgerEntry, ledgerCursor } from "panorama-core/domain/ledger";
import type { AdmissionLog } from "panorama-core/domain/rate-limit";
import { taskId } from "panorama-core/domain/task-id";

type Account = {
  readonly credits: Credits;
  /** Oldest first. */
  readonly holds: readonly Hold[];
  readonly entries: readonly LedgerEntry[];
  readonly logs: ReadonlyMap<string, AdmissionLog>;
};

const NEW_ACCOUNT: Account = { credits: credits(0), holds: [], entries: [], logs: new Map() };

/** In place of a client of your database: nothing that it returns is shared with what is stored. */
const documents = () => {
  const stored = new Map<string, Account>();
  return {
    read: async (id: string) => structuredClone(stored.get(id)),
    write: async (id: string, account: Account) => {
      stored.set(id, structuredClone(account));
    },
  };
};

/** The time is that of the process, so one process at a time may use the store. */
export const meterStoreOfDocuments = (now: () => Date): MeterStore => {
  const { read, write } = documents();
  /** The last change of each account: the next one begins after it. */
  const changes = new Map<AccountId, Promise<unknown>>();

  return {
    change(id, query, decide) {
      const run = async () => {
        const account = (await read(id)) ?? NEW_ACCOUNT;
        const { change, answer } = decide(recordOf(account, query, now()));
        if (change !== undefined) await write(id, changed(account, query, change));
        return answer;
      };
      const running = (changes.get(id) ?? Promise.resolve()).then(run, run);
      changes.set(id, running);
      return running;
    },

    async entries(id, limit, before) {
      const { entries } = (await read(id)) ?? NEW_ACCOUNT;
      return entries
        .map((entry, index) => ({ cursor: ledgerCursor(index + 1), entry }))
        .filter(({ cursor }) => before === undefined || cursor < before)
        .slice(-limit)
        .reverse();
    },
  };
};

const recordOf = (
  account: Account,
  { rate, taskId: wanted, idempotencyKey, orderId }: MeterQuery,
  now: Date,
): MeterRecord => {
  const purchase = account.entries.find((entry) => entry.kind === "purchase" && entry.orderId === orderId);
  return {
    now,
    newTaskId: taskId(randomUUID()),
    credits: account.credits,
    open: account.holds.flatMap(({ reservation, ...hold }) =>
      reservation.state === "held" ? [{ ...hold, reservation }] : [],
    ),
    log: (rate === undefined ? undefined : account.logs.get(rate)) ?? [],
    hold: account.holds
      .filter(({ reservation, idempotent }) =>
        idempotencyKey === undefined ? reservation.taskId === wanted : idempotent?.key === idempotencyKey,
      )
      .at(-1),
    purchased: purchase && credits(purchase.credits),
  };
};

const changed = (account: Account, { rate }: MeterQuery, change: MeterChange): Account => {
  const newVersion = (hold: Hold) => change.holds.find((next) => next.reservation.taskId === hold.reservation.taskId);
  const isNew = (hold: Hold) =>
    !account.holds.some(({ reservation }) => reservation.taskId === hold.reservation.taskId);
  const logs = new Map(account.logs);
  if (rate !== undefined && change.log !== undefined) logs.set(rate, change.log);
  return {
    credits: change.credits,
    holds: [...account.holds.map((hold) => newVersion(hold) ?? hold), ...change.holds.filter(isNew)],
    entries: [...account.entries, ...change.entries],
    logs,
  };
};
