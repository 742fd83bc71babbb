// A meter's store on a database of documents: one document for each account, which is read and written as a whole.
import { randomUUID } from "node:crypto";
import {
  type AccountId,
  type AdmissionLog,
  type Hold,
  ledgerCursor,
  type MeterChange,
  type MeterEntry,
  type MeterQuery,
  type MeterReading,
  type MeterStore,
  type OpenHold,
  taskId,
} from "panorama-core";

type Account = {
  readonly credits: number;
  /** Oldest first. */
  readonly holds: readonly Hold[];
  readonly entries: readonly MeterEntry[];
  readonly logs: ReadonlyMap<string, AdmissionLog>;
};

const NEW_ACCOUNT: Account = { credits: 0, holds: [], entries: [], logs: new Map() };

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
        const { change, answer } = decide({
          ...readingOf(account, query, now()),
          newTaskId: taskId(randomUUID()),
          log: (query.rate === undefined ? undefined : account.logs.get(query.rate)) ?? [],
          entry: account.entries.find((entry) => query.entryKey !== undefined && keyOf(entry) === query.entryKey),
        });
        if (change !== undefined) await write(id, changed(account, query, change));
        return answer;
      };
      const running = (changes.get(id) ?? Promise.resolve()).then(run, run);
      changes.set(id, running);
      return running;
    },

    read: async (id, query) => readingOf((await read(id)) ?? NEW_ACCOUNT, query, now()),

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

/** The name by which an entry is found again. */
const keyOf = (entry: MeterEntry) => (entry.kind === "purchase" ? entry.orderId : entry.idempotencyKey);

const readingOf = (account: Account, { taskId: wanted, idempotencyKey }: MeterQuery, now: Date): MeterReading => ({
  now,
  credits: account.credits,
  open: account.holds.filter((hold): hold is OpenHold => hold.reservation.state === "held"),
  hold: account.holds
    .filter(({ reservation, idempotent }) =>
      idempotencyKey === undefined ? reservation.taskId === wanted : idempotent?.key === idempotencyKey,
    )
    .at(-1),
});

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
