import { type InferEntity, LockMode, raw } from "@mikro-orm/core";
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
import { changeEntities, EntityStore, inUnitOfWork, rowOf } from "../database/orm/entities.js";
import { EventTable, TaskTable, WebhookDeliveryTable, WebhookEndpointTable } from "../database/schema/schema.js";
import { optional, text } from "../database/sql/columns.js";
import type { Database } from "../database/sql/database.js";
import { UnreadableTasks } from "../tasks/unreadable-tasks.js";
import { claimDeliveries, recordAttempt } from "./claim-deliveries.js";
import { toEvent } from "./event-rows.js";
import { giveUpDeliveries } from "./give-up-deliveries.js";
import { bringDeliveriesForward, deleteEvents } from "./old-deliveries.js";
import { present, toDelivery } from "./webhook-rows.js";

/** Deliveries of webhooks in SQLite or PostgreSQL. */
export class SqlDeliveryStore extends EntityStore implements DeliveryStore {
  private readonly unreadable: UnreadableTasks;

  /** `reporter` receives the tasks whose rows this version cannot read. */
  constructor(database: Database, reporter: Pick<Reporter, "report"> = { report: () => {} }) {
    super(database);
    this.unreadable = new UnreadableTasks(reporter);
  }

  claim(claim: DeliveryClaim): Promise<DeliveryLease[]> {
    return claimDeliveries(this.database, this.unreadable, claim);
  }

  record(lease: DeliveryLease, outcome: AttemptOutcome, result: AttemptResult, now: Date): Promise<void> {
    return recordAttempt(this.database, lease, outcome, result, now);
  }

  switchOff({ id }: Endpoint, reason: OffReason, now: Date, failingSince: Date): Promise<boolean> {
    const on = { id, offAt: null, ...(reason === "failing" && { failingSince: { $lte: failingSince } }) };
    return changeEntities(this.database, async (manager) => {
      const switched = await manager.nativeUpdate(WebhookEndpointTable, on, { offAt: now, offReason: reason });
      if (switched > 0) await giveUpDeliveries(manager, id, now);
      return switched > 0;
    });
  }

  async list(accountId: AccountId, limit: number, before: DeliveryId | undefined): Promise<ListedDelivery[]> {
    const wanted = { accountId, ...(before !== undefined && { id: { $lt: before } }) };
    const page = { orderBy: { id: "desc" }, limit } as const;
    return this.listed(accountId, await this.entities.find(WebhookDeliveryTable, wanted, page));
  }

  async ofTask(accountId: AccountId, taskId: TaskId): Promise<ListedDelivery[]> {
    // By the numbers of its events: the index of deliveries by task has only those that are due. With `orderBy`, SQLite
    // would read all deliveries of the account, through the index that has them in this order.
    const ofTask = { [raw("number in (select number from event where task_id = ?)", [taskId])]: [] };
    const deliveries = await this.entities.find(WebhookDeliveryTable, { accountId, ...ofTask });
    const inOrder = deliveries.sort((a, b) => a.id - b.id);
    return this.listed(accountId, inOrder);
  }

  async resend(id: DeliveryId, accountId: AccountId, now: Date): Promise<Result<void, NotFound | EndpointOff>> {
    const sent = await inUnitOfWork<string, NotFound | EndpointOff>(this.database, async (manager) => {
      const lock = { lockMode: LockMode.PESSIMISTIC_WRITE };
      const delivery = await manager.findOne(WebhookDeliveryTable, { id, accountId }, lock);
      if (delivery === null) return err(notFound(`There is no delivery ${id} on this account.`));
      const endpoint = await manager.findOneOrFail(WebhookEndpointTable, delivery.endpointId, { fields: ["offAt"] });
      if (endpoint.offAt !== null) return err({ kind: "endpoint_off" });
      const isLeased = (delivery.leasedUntil ?? now) > now;
      const fence = isLeased ? delivery.fence : delivery.fence + 1;
      const again = { state: "pending", attempts: 0, firstAttemptAt: null, endedAt: null, dueAt: now, fence };
      Object.assign(delivery, again);
      return ok(delivery.lane);
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
  private async listed(accountId: AccountId, deliveries: readonly DeliveryEntity[]): Promise<ListedDelivery[]> {
    if (deliveries.length === 0) return [];
    const events = await this.entities.find(EventTable, {
      accountId,
      number: among(deliveries.map(({ number }) => number)),
    });
    const endpointIds = among(deliveries.map(({ endpointId }) => endpointId));
    const endpoints = await this.entities.find(WebhookEndpointTable, { id: endpointIds });
    const taskIds = among(deliveries.map(({ taskId }) => taskId));
    const tasks = await this.entities.find(TaskTable, { id: taskIds }, { fields: ["id", "webhookUrl"] });
    const eventOf = new Map(events.map((event) => [event.number, toEvent(rowOf(EventTable, event))]));
    const endpointUrls = new Map(endpoints.map((endpoint) => [endpoint.id, optional(endpoint, "url", text)]));
    const taskUrls = new Map(tasks.map((task) => [task.id, optional(task, "webhookUrl", text)]));
    return deliveries.map((one) => {
      const { id, delivery } = toDelivery(rowOf(WebhookDeliveryTable, one));
      const url = present(endpointUrls.get(one.endpointId) ?? taskUrls.get(one.taskId ?? ""));
      return { id, delivery, event: present(eventOf.get(one.number)), url };
    });
  }
}

type DeliveryEntity = InferEntity<typeof WebhookDeliveryTable>;

const among = <T>(values: readonly (T | null | undefined)[]) => ({
  $in: [...new Set(values.filter((value) => value !== null && value !== undefined))],
});
