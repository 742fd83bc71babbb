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
import type { AttemptResult } from "../../../domain/webhooks/webhook-delivery.js";
import type { Endpoint, OffReason } from "../../../domain/webhooks/webhook-endpoint.js";
import { date, integer, optional, type Row, text } from "../database/sql/columns.js";
import { type Database, inTransaction } from "../database/sql/database.js";
import { olderThan } from "../database/sql/statement.js";
import { UnreadableTasks } from "../tasks/unreadable-tasks.js";
import { byId, claimDeliveries, EVENTS_OF_DELIVERIES, numberOf, recordDeliveryAttempt } from "./claim-deliveries.js";
import { toEvent } from "./event-rows.js";
import { giveUpDeliveries } from "./give-up-deliveries.js";
import { bringDeliveriesForward, deleteEvents } from "./old-deliveries.js";
import { present, referredRows, toDelivery } from "./webhook-rows.js";

/** Deliveries of webhooks in SQLite or PostgreSQL. */
export class SqlDeliveryStore implements DeliveryStore {
  private readonly database: Database;
  private readonly unreadable: UnreadableTasks;

  /** `reporter` receives the tasks whose rows this version cannot read. */
  constructor(database: Database, reporter: Pick<Reporter, "report"> = { report: () => {} }) {
    this.database = database;
    this.unreadable = new UnreadableTasks(reporter);
  }

  claim(claim: DeliveryClaim): Promise<DeliveryLease[]> {
    return claimDeliveries(this.database, this.unreadable, claim);
  }

  record(lease: DeliveryLease, outcome: AttemptOutcome, result: AttemptResult, now: Date): Promise<void> {
    return recordDeliveryAttempt(this.database, lease, outcome, result, now);
  }

  switchOff({ id }: Endpoint, reason: OffReason, now: Date, failingSince: Date): Promise<boolean> {
    const [condition, parameters] = reason === "failing" ? ["and failing_since <= ?", [failingSince]] : ["", []];
    return inTransaction(this.database, async (sql) => {
      const switched = await sql(
        `update webhook_endpoint set off_at = ?, off_reason = ? where id = ? and off_at is null ${condition}
        returning id`,
        [now, reason, id, ...parameters],
      );
      if (switched.length > 0) await giveUpDeliveries(sql, id, now);
      return switched.length > 0;
    });
  }

  async list(accountId: AccountId, limit: number, before: DeliveryId | undefined): Promise<ListedDelivery[]> {
    const older = olderThan(before);
    const rows = await this.database.sql(
      `select * from webhook_delivery where account_id = ? ${older.text} order by id desc limit ?`,
      [accountId, ...older.parameters, limit],
    );
    return this.listed(rows);
  }

  async ofTask(accountId: AccountId, taskId: TaskId): Promise<ListedDelivery[]> {
    // By the numbers of its events: the index of deliveries by task has only those that are due. With `order by`,
    // SQLite would read all deliveries of the account, through the index that has them in this order.
    const rows = await this.database.sql(
      `select * from webhook_delivery
      where account_id = ? and number in (select number from event where task_id = ?)`,
      [accountId, taskId],
    );
    const inOrder = rows.sort(byId);
    return this.listed(inOrder);
  }

  async resend(id: DeliveryId, accountId: AccountId, now: Date): Promise<Result<void, NotFound | EndpointOff>> {
    const sent = await this.database.transaction<string, NotFound | EndpointOff>(async (sql) => {
      // An update without changes locks the row on both dialects.
      const [row] = await sql(
        `update webhook_delivery set state = state where id = ? and account_id = ?
        returning lane, fence, leased_until, (select off_at from webhook_endpoint where id = endpoint_id) as off_at`,
        [id, accountId],
      );
      if (row === undefined) return err(notFound(`There is no delivery ${id} on this account.`));
      if (row.off_at !== null) return err({ kind: "endpoint_off" });
      const isLeased = (optional(row, "leased_until", date) ?? now) > now;
      await sql(
        `update webhook_delivery set state = 'pending', attempts = 0, first_attempt_at = null, ended_at = null,
        due_at = ?, fence = ? where id = ?`,
        [now, integer(row, "fence") + (isLeased ? 0 : 1), id],
      );
      return ok(text(row, "lane"));
    });
    if (sent.isErr()) return err(sent.error);
    // In a statement of its own: claims lock the receiver before the delivery.
    // Also after the only attempt's lease has ended: its late failure would make the lane wait.
    await this.database.sql(
      `update webhook_receiver set next_at = ? where name = ? and (next_at > ? or leased_until is not null)`,
      [now, sent.value, now],
    );
    return ok(undefined);
  }

  bringForward(latest: Date, dueAt: Date): Promise<void> {
    return bringDeliveriesForward(this.database, latest, dueAt);
  }

  deleteEvents(before: Date, limit: number): Promise<number> {
    return deleteEvents(this.database, before, limit);
  }

  /** The deliveries as the owner of the endpoints sees them. */
  private async listed(deliveries: readonly Row[]): Promise<ListedDelivery[]> {
    if (deliveries.length === 0) return [];
    const events = await referredRows(this.database, deliveries, "id", EVENTS_OF_DELIVERIES, "webhook_delivery.id");
    const urlsOf = async (of: string, select: string) => {
      const rows = await referredRows(this.database, deliveries, of, select);
      return new Map(rows.map((row) => [row.id, optional(row, "url", text)]));
    };
    const endpointUrls = await urlsOf("endpoint_id", "select id, url from webhook_endpoint");
    const taskUrls = await urlsOf("task_id", "select id, webhook_url as url from task");
    const eventOf = new Map(events.map((row) => [numberOf(row, "delivery_id"), toEvent(row)]));
    return deliveries.map((row) => {
      const { id, delivery } = toDelivery(row);
      const url = present(endpointUrls.get(row.endpoint_id) ?? taskUrls.get(row.task_id));
      return { id, delivery, event: present(eventOf.get(id)), url };
    });
  }
}
