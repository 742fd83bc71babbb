import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
import type { Reporter } from "../../../application/ports/reporter.js";
import type {
  AttemptOutcome,
  DeliveryClaim,
  DeliveryId,
  DeliveryLease,
  DeliveryStore,
  EndpointOff,
  ListedDelivery,
} from "../../../application/ports/stores/webhook-stores.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { AccountEvent } from "../../../domain/tasks/account-event.js";
import { type AttemptResult, DELIVERY_STATES, type Delivery } from "../../../domain/webhooks/webhook-delivery.js";
import type { Endpoint, OffReason } from "../../../domain/webhooks/webhook-endpoint.js";
import { readDueDeliveries } from "../rows/due-deliveries.js";
import { toEndpoint } from "../rows/endpoint-rows.js";
import { toEvent } from "../rows/event-rows.js";
import { giveUpDeliveries } from "../rows/give-up-deliveries.js";
import { receiverStatements, takeReceivers } from "../rows/receiver-rows.js";
import { UnreadableTasks } from "../rows/unreadable-tasks.js";
import { date, integer, oneOf, optional, type Row, text } from "../sql/columns.js";
import type { Database } from "../sql/database.js";
import { isAmong, isIn, listOf, skipLocked } from "../sql/dialect-sql.js";
import { IS_FREE, olderThan, type Statement } from "../sql/statement.js";
import { writeInOneRoundTrip } from "../sql/write-in-one-round-trip.js";
import { eraseWebhookUrls } from "../tasks/erase-texts.js";
import { toTask } from "../tasks/task-rows.js";

/** Deliveries of webhooks in SQLite or PostgreSQL. */
export class SqlDeliveryStore implements DeliveryStore {
  private readonly database: Database;
  private readonly unreadable: UnreadableTasks;

  /** `reporter` receives the tasks whose rows this version cannot read. */
  constructor(database: Database, reporter: Pick<Reporter, "report"> = { report: () => {} }) {
    this.database = database;
    this.unreadable = new UnreadableTasks(reporter);
  }

  /** Nearly always there is nothing to do, so it reads first: a read waits for no lock. */
  async claim({ now, until, choose, ...which }: DeliveryClaim): Promise<DeliveryLease[]> {
    const { sql, dialect } = this.database;
    const due = await readDueDeliveries(this.database, now, which);
    const chosen = due.length === 0 ? [] : choose(due);
    const taken = await takeReceivers(this.database, chosen, now, until);
    if (taken.length === 0) return [];
    const byNumber = new Map(taken.map((delivery) => [delivery.id, delivery]));
    const rows = await sql(
      `update webhook_delivery set due_at = ?, leased_until = ?, fence = fence + 1 where ${isIn(
        "id",
        `select id from webhook_delivery where ${isAmong("id", dialect)} and due_at <= ? and ${IS_FREE}
        ${skipLocked(dialect)}`,
        dialect,
      )} returning *`,
      [until, until, listOf([...byNumber.keys()], dialect), now, now],
    );
    const [events, endpoints, taskRows] = await Promise.all([
      this.eventsOf(rows),
      this.endpointsOf(rows),
      this.tasksOf(rows, "*"),
    ]);
    const tasks = new Map(this.unreadable.separate(taskRows, toTask).read.map((task) => [task.id as unknown, task]));
    return rows.sort(byId).flatMap((row): DeliveryLease[] => {
      const { id, delivery } = toDelivery({ ...row, due_at: until.getTime() });
      const event = present(events.get(id));
      const endpoint = present(endpoints.get(row.endpoint_id));
      const task = tasks.get(row.task_id);
      if (row.task_id !== null && task === undefined) return []; // it cannot be read; another instance may claim it
      const url = present(endpoint.url ?? task?.request.webhookUrl);
      const { lane, origin, receiver } = present(byNumber.get(id));
      const core = { id, fence: integer(row, "fence"), lane, origin, receiver, event, task, url, endpoint };
      return delivery.state === "pending" ? [{ ...core, delivery }] : [];
    });
  }

  async record(lease: DeliveryLease, outcome: AttemptOutcome, result: AttemptResult, now: Date): Promise<void> {
    const { lane, event, endpoint } = lease;
    const next = outcome.delivery;
    const own = ownStatement(lease, next);
    const failing =
      result.kind === "failed"
        ? { text: "failing_since = ? where id = ? and failing_since is null", parameters: [now, endpoint.id] }
        : { text: "failing_since = null where id = ? and failing_since is not null", parameters: [endpoint.id] };
    const statements: Statement[] = [
      { text: `update webhook_endpoint set ${failing.text}`, parameters: failing.parameters },
      ...receiverStatements(lease, outcome, now),
    ];
    await this.database.transaction<void, never>(async (sql) => {
      if (next.state !== "pending" || event.type === "credits.low") statements.push(own);
      else {
        const [stored] = await sql(`${own.text} returning due_at`, own.parameters);
        const waits = stored !== undefined && optional(stored, "due_at", date)?.getTime() === next.dueAt.getTime();
        // Later events of the task wait for this one: until then no claim needs to look at them.
        const later = `update webhook_delivery set due_at = ?
          where task_id = ? and lane = ? and number > ? and due_at < ? and due_at is not null and ${IS_FREE}`;
        const parameters = [next.dueAt, event.taskId, lane, event.number, next.dueAt, now];
        if (waits) statements.push({ text: later, parameters });
      }
      await writeInOneRoundTrip(sql, this.database.dialect, statements);
      return ok(undefined);
    });
  }

  async switchOff({ id }: Endpoint, reason: OffReason, now: Date, failingSince: Date): Promise<boolean> {
    const since = reason === "failing" ? { text: "and failing_since <= ?", parameters: [failingSince] } : NO_CONDITION;
    const switched = await this.database.transaction<boolean, never>(async (sql) => {
      const rows = await sql(
        `update webhook_endpoint set off_at = ?, off_reason = ? where id = ? and off_at is null ${since.text} returning id`,
        [now, reason, id, ...since.parameters],
      );
      if (rows.length > 0) await giveUpDeliveries(sql, id, now);
      return ok(rows.length > 0);
    });
    return switched._unsafeUnwrap();
  }

  async list(account: AccountId, limit: number, before: DeliveryId | undefined): Promise<ListedDelivery[]> {
    const older = olderThan(before);
    const rows = await this.database.sql(
      `select * from webhook_delivery where account_id = ? ${older.text} order by id desc limit ?`,
      [account, ...older.parameters, limit],
    );
    return this.listed(rows);
  }

  async ofTask(account: AccountId, task: TaskId): Promise<ListedDelivery[]> {
    // By the numbers of its events: the index of deliveries by task has only those that are due. With `order by id`,
    // SQLite would read all deliveries of the account, through the index that has them in this order.
    const rows = await this.database.sql(
      `select * from webhook_delivery where account_id = ? and number in (select number from event where task_id = ?)
      order by +id`,
      [account, task],
    );
    return this.listed(rows);
  }

  private async listed(rows: readonly Row[]): Promise<ListedDelivery[]> {
    const [events, endpoints, taskRows] = await Promise.all([
      this.eventsOf(rows),
      this.endpointsOf(rows),
      this.tasksOf(rows, "id, webhook_url"),
    ]);
    const ownUrls = new Map(taskRows.map((row) => [row.id, optional(row, "webhook_url", text)]));
    return rows.map((row) => {
      const { id, delivery } = toDelivery(row);
      const url = present(endpoints.get(row.endpoint_id)?.url ?? ownUrls.get(row.task_id));
      return { id, delivery, event: present(events.get(id)), url };
    });
  }

  async resend(id: DeliveryId, account: AccountId, now: Date): Promise<Result<void, NotFound | EndpointOff>> {
    const sent = await this.database.sql(
      `update webhook_delivery set state = 'pending', attempts = 0, first_attempt_at = null, ended_at = null, due_at = ?,
      fence = case when leased_until > ? then fence else fence + 1 end
      where id = ? and account_id = ? and endpoint_id in (select id from webhook_endpoint where off_at is null) returning lane`,
      [now, now, id, account],
    );
    const lane = sent[0]?.lane;
    if (lane !== undefined) {
      await this.database.sql("update webhook_receiver set next_at = ? where name = ? and next_at > ?", [
        now,
        lane,
        now,
      ]);
      return ok(undefined);
    }
    const known = await this.database.sql("select id from webhook_delivery where id = ? and account_id = ?", [
      id,
      account,
    ]);
    return known.length === 1
      ? err({ kind: "endpoint_off" })
      : err(notFound(`There is no delivery ${id} on this account.`));
  }

  async bringForward(latest: Date, dueAt: Date): Promise<void> {
    const { sql, dialect } = this.database;
    await sql("update webhook_receiver set next_at = ? where next_at > ?", [dueAt, latest]);
    await sql("update webhook_receiver set leased_until = null where leased_until > ?", [latest]);
    const conditions: readonly Statement[] = [
      { text: "due_at > ?", parameters: [latest] },
      // Sent again during an attempt, and the clock was set back since that began.
      { text: "due_at <= ? and leased_until > ?", parameters: [dueAt, latest] },
    ];
    for (const { text: isLate, parameters } of conditions) {
      const late = `select id from webhook_delivery where ${isLate} and due_at is not null`;
      if ((await sql(`${late} limit 1`, parameters)).length === 0) continue;
      await sql(
        `update webhook_delivery set due_at = ?, leased_until = null where id in (${late} ${skipLocked(dialect)})`,
        [dueAt, ...parameters],
      );
    }
  }

  async deleteEvents(before: Date, limit: number): Promise<number> {
    const { sql, dialect } = this.database;
    await sql("delete from webhook_receiver where next_at < ?", [before]);
    const old = await sql("select task_id from event where at < ? order by at limit ?", [before, limit]);
    if (old.length === 0) return 0;
    const tasks = old.flatMap(({ task_id }) => (task_id === null ? [] : [task_id]));
    await this.database.transaction<void, never>(async (sql) => {
      const oldest = "select account_id, number from event where at < ? order by at limit ?";
      await sql(`delete from webhook_delivery where (account_id, number) in (${oldest})`, [before, limit]);
      await sql(`delete from event where (account_id, number) in (${oldest})`, [before, limit]);
      await eraseWebhookUrls(sql, dialect, tasks);
      await sql(
        `delete from webhook_endpoint where off_reason = 'deleted' and off_at < ?
        and not exists (select 1 from webhook_delivery where endpoint_id = webhook_endpoint.id)`,
        [before],
      );
      return ok(undefined);
    });
    return old.length;
  }

  /** By the id of the delivery. */
  private async eventsOf(deliveries: readonly Row[]): Promise<Map<DeliveryId, AccountEvent>> {
    const rows = await this.rowsAmong(
      `select event.*, webhook_delivery.id as delivery_id from webhook_delivery
      join event on event.account_id = webhook_delivery.account_id and event.number = webhook_delivery.number`,
      "webhook_delivery.id",
      deliveries.map(({ id }) => id),
    );
    return new Map(rows.map((row) => [numberOf(row, "delivery_id"), toEvent(row)]));
  }

  private async endpointsOf(deliveries: readonly Row[]): Promise<Map<unknown, Endpoint>> {
    const ids = deliveries.map(({ endpoint_id }) => endpoint_id);
    const rows = await this.rowsAmong("select * from webhook_endpoint", "id", ids);
    return new Map(rows.map((row) => [row.id, toEndpoint(row)]));
  }

  private tasksOf(deliveries: readonly Row[], columns: string): Promise<Row[]> {
    const ids = deliveries.flatMap(({ task_id }) => (task_id === null ? [] : [task_id]));
    return this.rowsAmong(`select ${columns} from task`, "id", ids);
  }

  private rowsAmong(select: string, column: string, values: readonly unknown[]): Promise<Row[]> {
    if (values.length === 0) return Promise.resolve([]);
    const { sql, dialect } = this.database;
    return sql(`${select} where ${isAmong(column, dialect)}`, [listOf([...new Set(values)], dialect)]);
  }
}

/**
 * What an attempt changes of its delivery. One that was sent again meanwhile (its due time is before the end of the
 * lease) stays as it is, and is free now.
 */
const ownStatement = ({ id, fence }: DeliveryLease, next: Delivery): Statement => {
  const { state, attempts, firstAttemptAt = null, detail = null } = next;
  const [dueAt, endedAt] = next.state === "pending" ? [next.dueAt, null] : [null, next.endedAt];
  const unlessWanted = ["state", "attempts", "first_attempt_at", "ended_at", "due_at"].map(
    (column) => `${column} = case when due_at < leased_until then ${column} else ? end`,
  );
  return {
    text: `update webhook_delivery set ${unlessWanted.join(", ")}, detail = ?, leased_until = null
      where id = ? and fence = ?`,
    parameters: [state, attempts, firstAttemptAt, endedAt, dueAt, detail, id, fence],
  };
};

const NO_CONDITION: Statement = { text: "", parameters: [] };

const byId = (a: Row, b: Row): number => numberOf(a, "id") - numberOf(b, "id");

/** PostgreSQL's driver returns a `bigint` as text. */
const numberOf = (row: Row, column: string): number => Number(row[column]);

/** A row refers to another one that must exist. */
const present = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("a delivery refers to a row that does not exist");
  return value;
};

const toDelivery = (row: Row): { readonly id: DeliveryId; readonly delivery: Delivery } => {
  const state = oneOf(row, "state", DELIVERY_STATES);
  const core = {
    attempts: integer(row, "attempts"),
    firstAttemptAt: optional(row, "first_attempt_at", date),
    detail: optional(row, "detail", text),
  };
  const id = numberOf(row, "id");
  return state === "pending"
    ? { id, delivery: { ...core, state, dueAt: date(row, "due_at") } }
    : { id, delivery: { ...core, state, endedAt: date(row, "ended_at") } };
};
