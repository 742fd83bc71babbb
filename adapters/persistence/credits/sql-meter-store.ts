import { randomUUID } from "node:crypto";
import { err, ok } from "neverthrow";
import type { Ids } from "../../../application/ports/ids.js";
import type {
  MeterChange,
  MeterLine,
  MeterQuery,
  MeterReading,
  MeterRecord,
  MeterStore,
} from "../../../application/ports/stores/meter-store.js";
import type { AdjustmentReason } from "../../../domain/credits/adjustment.js";
import type { Hold, OpenHold } from "../../../domain/credits/hold.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import type { LedgerCursor } from "../../../domain/credits/ledger-page.js";
import type { EntryNotes, MeterEntry } from "../../../domain/credits/meter-entry.js";
import type { AdmissionLog } from "../../../domain/credits/rate-limit.js";
import type { Reservation } from "../../../domain/credits/reservation.js";
import { type AccountId, type TaskId, taskId } from "../../../domain/ids.js";
import { amount, branded, date, jsonValue, oneOf, type Row, text } from "../database/sql/columns.js";
import type { Database, Sql } from "../database/sql/database.js";
import { databaseTime } from "../database/sql/database-time.js";
import { insert, insertion, olderThan } from "../database/sql/statement.js";
import { entryRow, toLedgerEntry } from "./ledger-rows.js";

const LOCK = `
  insert into meter_account (id, credits) values (?, 0)
  on conflict (id) do update set credits = meter_account.credits returning id, credits, debt`;

const OPEN = "select * from meter_hold where account_id = ? and state = 'held'";

const STATES = ["held", "captured", "refunded"] as const satisfies readonly Reservation["state"][];

type MeterDatabase = Pick<Database, "dialect" | "sql" | "transaction">;

/**
 * A meter's accounts in SQLite or PostgreSQL (`openDatabase` with the tables `meter`). Each change is a transaction
 * that locks its account. Its time is the database's, which comes with the lock, so clocks of processes do not matter.
 * SQLite's is that of the machine, where all its processes are.
 */
export class SqlMeterStore implements MeterStore {
  private readonly database: MeterDatabase;
  private readonly ids: Pick<Ids, "taskId">;

  constructor(database: MeterDatabase, ids: Pick<Ids, "taskId"> = { taskId: () => taskId(randomUUID()) }) {
    this.database = database;
    this.ids = ids;
  }

  async change<Answer>(
    account: AccountId,
    query: MeterQuery,
    decide: (record: MeterRecord) => { readonly change?: MeterChange | undefined; readonly answer: Answer },
  ): Promise<Answer> {
    const decided = await this.database.transaction<Answer, Answer>(async (sql) => {
      const { change, answer } = decide(await this.record(sql, account, query));
      if (change === undefined) return err(answer); // rolls back, so that a new account leaves no row
      await write(sql, account, query, change);
      return ok(answer);
    });
    return decided.match(
      (answer) => answer,
      (answer) => answer,
    );
  }

  /**
   * One statement, which sees one moment: a row for each open hold and for the wanted one, at least one in all. The
   * columns of `*` are the last ones: on SQLite, those that a later version adds would move others.
   */
  async read(account: AccountId, { taskId }: Pick<MeterQuery, "taskId">): Promise<MeterReading> {
    const ended = "union all select * from meter_hold where account_id = ? and task_id = ? and state <> 'held'";
    const rows = await this.database.sql(
      `select money.balance, ${databaseTime(this.database.dialect)} as now, holds.* from (select 1 as one) always
      left join (select id, credits - debt as balance from meter_account where id = ?) money on true
      left join (${OPEN} ${taskId === undefined ? "" : ended}) holds on true`,
      [account, account, ...(taskId === undefined ? [] : [account, taskId])],
    );
    const [first = {}] = rows;
    const holds = rows.flatMap((row) => (row.task_id === null ? [] : [toHold(row)]));
    return {
      now: date(first, "now"),
      credits: Number(first.balance ?? 0),
      open: holds.filter((hold): hold is OpenHold => hold.reservation.state === "held"),
      hold: holds.find(({ reservation }) => reservation.taskId === taskId),
    };
  }

  async entries(account: AccountId, limit: number, before: LedgerCursor | undefined): Promise<MeterLine[]> {
    const older = olderThan(before);
    // PostgreSQL's driver returns a bigint as text, SQLite's as a number.
    const rows = await this.database.sql(
      `select *, cast(id as text) as number from meter_entry where account_id = ? ${older.text} order by id desc limit ?`,
      [account, ...older.parameters, limit],
    );
    return rows.map((row) => ({ cursor: Number(text(row, "number")) as LedgerCursor, entry: toMeterEntry(row) }));
  }

  private async record(
    sql: Sql,
    account: AccountId,
    { rate, taskId, idempotencyKey, entryKey }: MeterQuery,
  ): Promise<MeterRecord> {
    const [locked = {}] = await sql(`${LOCK}, ${databaseTime(this.database.dialect)} as now`, [account]);
    const open = await sql(OPEN, [account]);
    const holdBy = async (condition: string, value: string): Promise<Hold | undefined> => {
      const newest = `select * from meter_hold where account_id = ? and ${condition} order by held_at desc limit 1`;
      const [row] = await sql(newest, [account, value]);
      return row && toHold(row);
    };
    const [log] =
      rate === undefined
        ? []
        : await sql("select rate as id, admissions from meter_log where account_id = ? and rate = ?", [account, rate]);
    const [entry] =
      entryKey === undefined
        ? []
        : await sql("select * from meter_entry where account_id = ? and order_id = ?", [account, entryKey]);
    return {
      now: date(locked, "now"),
      newTaskId: this.ids.taskId(),
      credits: amount(locked, "credits") - amount(locked, "debt"),
      open: open.map((row) => toHold(row) as OpenHold), // the statement selects held ones only
      log: log === undefined ? [] : (JSON.parse(text(log, "admissions")) as AdmissionLog),
      hold:
        idempotencyKey === undefined
          ? taskId && (await holdBy("task_id = ?", taskId))
          : await holdBy("idempotency_key = ?", idempotencyKey),
      entry: entry && toMeterEntry(entry),
    };
  }
}

async function write(
  sql: Sql,
  account: AccountId,
  { rate }: MeterQuery,
  { credits: balance, holds, entries, log }: MeterChange,
): Promise<void> {
  const parts = [Math.max(0, balance), Math.max(0, -balance)];
  await sql("update meter_account set credits = ?, debt = ? where id = ?", [...parts, account]);
  for (const hold of holds) {
    const { text: insertHold, parameters } = insertion("meter_hold", holdRow(hold));
    const changed = ["state", "expires_at", "captured", "refunded"].map((column) => `${column} = excluded.${column}`);
    await sql(`${insertHold} on conflict (task_id) do update set ${changed.join(", ")}`, parameters);
  }
  for (const entry of entries) await insert(sql, "meter_entry", meterEntryRow(entry));
  if (log === undefined || rate === undefined) return;
  const { text: insertLog, parameters } = insertion("meter_log", {
    account_id: account,
    rate,
    admissions: JSON.stringify(log),
  });
  await sql(`${insertLog} on conflict (account_id, rate) do update set admissions = excluded.admissions`, parameters);
}

const notesRow = ({ description, metadata }: EntryNotes): Row => ({
  description: description ?? null,
  metadata: metadata === undefined ? null : JSON.stringify(metadata),
});

const toNotes = (row: Row): EntryNotes => ({
  ...(row.description !== null && { description: text(row, "description") }),
  ...(row.metadata !== null && { metadata: jsonValue<NonNullable<EntryNotes["metadata"]>>(row, "metadata") }),
});

const holdRow = (hold: Hold): Row => ({
  task_id: hold.reservation.taskId,
  account_id: hold.reservation.accountId,
  credits: hold.reservation.credits,
  state: hold.reservation.state,
  held_at: hold.heldAt,
  expires_at: hold.expiresAt,
  idempotency_key: hold.idempotent?.key ?? null,
  request: hold.idempotent?.request ?? null,
  captured: "captured" in hold ? hold.captured : null,
  refunded: "captured" in hold ? hold.refunded : 0,
  ...notesRow(hold),
});

function toHold(row: Row): Hold {
  const core = {
    heldAt: date(row, "held_at"),
    expiresAt: date(row, "expires_at"),
    idempotent:
      row.idempotency_key === null
        ? undefined
        : { key: branded<IdempotencyKey>(row, "idempotency_key"), request: text(row, "request") },
    ...toNotes(row),
  };
  const taskId = branded<TaskId>(row, "task_id");
  const reserved = { taskId, accountId: branded<AccountId>(row, "account_id"), credits: amount(row, "credits") };
  const state = oneOf(row, "state", STATES);
  if (state !== "captured") return { ...core, reservation: { ...reserved, state } } as Hold;
  const [captured, refunded] = [amount(row, "captured"), amount(row, "refunded")];
  return { ...core, reservation: { ...reserved, state }, captured, refunded };
}

const meterEntryRow = (entry: MeterEntry): Row => ({
  ...entryRow(entry),
  order_id: (entry.kind === "purchase" ? entry.orderId : entry.idempotencyKey) ?? null,
  reason: entry.reason ?? null,
  ...notesRow(entry),
});

function toMeterEntry(row: Row): MeterEntry {
  const entry = { ...toLedgerEntry(row), ...toNotes(row) };
  if (entry.kind === "purchase" || row.order_id === null) return entry;
  const reason = branded<AdjustmentReason>(row, "reason");
  return { ...entry, reason, idempotencyKey: branded<IdempotencyKey>(row, "order_id") };
}
