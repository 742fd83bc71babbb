import { err, ok } from "neverthrow";
import type { Ids } from "../../../application/ports/ids.js";
import type { LedgerLine } from "../../../application/ports/stores/ledger-store.js";
import type {
  MeterChange,
  MeterQuery,
  MeterRecord,
  MeterStore,
} from "../../../application/ports/stores/meter-store.js";
import type { AccountId } from "../../../domain/account-id.js";
import type { Hold, OpenHold } from "../../../domain/credits/hold.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import type { LedgerCursor } from "../../../domain/credits/ledger.js";
import type { AdmissionLog } from "../../../domain/credits/rate-limit.js";
import type { Reservation } from "../../../domain/credits/reservation.js";
import type { TaskId } from "../../../domain/task-id.js";
import { entryRow, toLedgerEntry } from "../rows/ledger-rows.js";
import { amount, branded, date, oneOf, type Row, text } from "../sql/columns.js";
import type { Database, Sql } from "../sql/database.js";
import { databaseTime } from "../sql/database-time.js";
import { insertion, olderThan } from "../sql/statement.js";

const LOCK = `
  insert into meter_account (id, credits) values (?, 0)
  on conflict (id) do update set credits = meter_account.credits returning id, credits`;

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

  constructor(database: MeterDatabase, ids: Pick<Ids, "taskId">) {
    this.database = database;
    this.ids = ids;
  }

  async change<Answer>(
    account: AccountId,
    query: MeterQuery,
    decide: (record: MeterRecord) => { readonly change?: MeterChange | undefined; readonly answer: Answer },
  ): Promise<Answer> {
    const decided = await this.database.transaction<Answer, Answer>(async (sql) => {
      const { change, answer } = decide(await this.read(sql, account, query));
      if (change === undefined) return err(answer); // rolls back, so that a new account leaves no row
      await write(sql, account, query, change);
      return ok(answer);
    });
    return decided.match(
      (answer) => answer,
      (answer) => answer,
    );
  }

  async entries(account: AccountId, limit: number, before: LedgerCursor | undefined): Promise<LedgerLine[]> {
    const older = olderThan(before);
    // PostgreSQL's driver returns a bigint as text, SQLite's as a number.
    const rows = await this.database.sql(
      `select *, cast(id as text) as number from meter_entry where account_id = ? ${older.text} order by id desc limit ?`,
      [account, ...older.parameters, limit],
    );
    return rows.map((row) => ({ cursor: Number(text(row, "number")) as LedgerCursor, entry: toLedgerEntry(row) }));
  }

  private async read(
    sql: Sql,
    account: AccountId,
    { rate, taskId, idempotencyKey, orderId }: MeterQuery,
  ): Promise<MeterRecord> {
    const [locked = {}] = await sql(`${LOCK}, ${databaseTime(this.database.dialect)} as now`, [account]);
    const open = await sql("select * from meter_hold where account_id = ? and state = 'held'", [account]);
    const holdBy = async (condition: string, value: string): Promise<Hold | undefined> => {
      const newest = `select * from meter_hold where account_id = ? and ${condition} order by held_at desc limit 1`;
      const [row] = await sql(newest, [account, value]);
      return row && toHold(row);
    };
    const [log] =
      rate === undefined
        ? []
        : await sql("select rate as id, admissions from meter_log where account_id = ? and rate = ?", [account, rate]);
    const [purchase] =
      orderId === undefined
        ? []
        : await sql("select id, credits from meter_entry where account_id = ? and order_id = ?", [account, orderId]);
    return {
      now: date(locked, "now"),
      newTaskId: this.ids.taskId(),
      credits: amount(locked, "credits"),
      open: open.map((row) => toHold(row) as OpenHold), // the statement selects those that are held
      log: log === undefined ? [] : (JSON.parse(text(log, "admissions")) as AdmissionLog),
      hold:
        idempotencyKey === undefined
          ? taskId && (await holdBy("task_id = ?", taskId))
          : await holdBy("idempotency_key = ?", idempotencyKey),
      purchased: purchase && amount(purchase, "credits"),
    };
  }
}

const write = async (
  sql: Sql,
  account: AccountId,
  { rate }: MeterQuery,
  { credits, holds, entries, log }: MeterChange,
): Promise<void> => {
  await sql("update meter_account set credits = ? where id = ?", [credits, account]);
  for (const hold of holds) {
    const { text: insert, parameters } = insertion("meter_hold", holdRow(hold));
    const changes = "on conflict (task_id) do update set state = excluded.state, expires_at = excluded.expires_at";
    await sql(`${insert} ${changes}`, parameters);
  }
  for (const entry of entries) {
    const { text: insert, parameters } = insertion("meter_entry", entryRow(entry));
    await sql(insert, parameters);
  }
  if (log === undefined || rate === undefined) return;
  const { text: insert, parameters } = insertion("meter_log", {
    account_id: account,
    rate,
    admissions: JSON.stringify(log),
  });
  await sql(`${insert} on conflict (account_id, rate) do update set admissions = excluded.admissions`, parameters);
};

const holdRow = ({ reservation, heldAt, expiresAt, idempotent }: Hold): Row => ({
  task_id: reservation.taskId,
  account_id: reservation.accountId,
  credits: reservation.credits,
  state: reservation.state,
  held_at: heldAt,
  expires_at: expiresAt,
  idempotency_key: idempotent?.key ?? null,
  request: idempotent?.requestSha256 ?? null,
});

const toHold = (row: Row): Hold => ({
  reservation: {
    taskId: branded<TaskId>(row, "task_id"),
    accountId: branded<AccountId>(row, "account_id"),
    credits: amount(row, "credits"),
    state: oneOf(row, "state", STATES),
  },
  heldAt: date(row, "held_at"),
  expiresAt: date(row, "expires_at"),
  idempotent:
    row.idempotency_key === null
      ? undefined
      : { key: branded<IdempotencyKey>(row, "idempotency_key"), requestSha256: text(row, "request") },
});
