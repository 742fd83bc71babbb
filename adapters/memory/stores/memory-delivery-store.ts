import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../../application/errors.js";
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
import type { DueDelivery } from "../../../domain/webhooks/share-slots.js";
import { type AttemptResult, type Delivery, pendingAt } from "../../../domain/webhooks/webhook-delivery.js";
import type { Endpoint, OffReason } from "../../../domain/webhooks/webhook-endpoint.js";
import { isProbed, newReceiver, type Receiver } from "../../../domain/webhooks/webhook-receiver.js";
import type { MemoryDatabase } from "./memory-database.js";

type Stored = MemoryDatabase["deliveries"][number];

/** Deliveries in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryDeliveryStore implements DeliveryStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async claim({ now, until, limit, laneLimit, busyLanes, choose }: DeliveryClaim): Promise<DeliveryLease[]> {
    const due = this.database.deliveries
      .filter((stored) => dueOf(stored) <= now.getTime() && !isLeased(stored, now) && !this.mustWait(stored))
      .filter(({ lane }) => !busyLanes.includes(lane) && this.isFree(lane, now))
      .sort((a, b) => dueOf(a) - dueOf(b) || a.id - b.id);
    const byLane = inTurns(due, ({ lane }) => lane, laneLimit);
    const candidates = inTurns(byLane, ({ event }) => event.accountId, limit)
      .slice(0, limit)
      .map((stored) => this.dueDelivery(stored, now))
      .filter((delivery) => this.isOriginFree(delivery, now));
    const stored = new Map(due.map((found) => [found.id, found]));
    return choose(candidates)
      .filter((delivery) => this.takeReceiver(delivery, now, until))
      .map((delivery) => this.lease(stored.get(delivery.id) as Stored, delivery, until))
      .sort((a, b) => a.id - b.id);
  }

  private lease(stored: Stored, { origin, receiver }: DueDelivery, until: Date): DeliveryLease {
    const delivery = { ...(stored.delivery as Extract<Delivery, { state: "pending" }>), dueAt: until };
    stored.delivery = delivery;
    stored.leasedUntil = until;
    stored.fence += 1;
    const { id, fence, lane, event } = stored;
    const task = event.type === "credits.low" ? undefined : this.database.tasks.get(event.taskId)?.task;
    const endpoint = this.endpointOf(stored);
    return { id, fence, lane, origin, receiver, delivery, event, task, endpoint, url: this.urlOf(stored) };
  }

  private dueDelivery(stored: Stored, now: Date): DueDelivery {
    const { id, lane, event } = stored;
    const origin = new URL(this.urlOf(stored)).origin;
    return { id, accountId: event.accountId, lane, origin, receiver: this.receiver(lane, now) };
  }

  private receiver(name: string, now: Date): Receiver {
    return this.database.receivers.get(name) ?? newReceiver(now);
  }

  private isFree(name: string, now: Date): boolean {
    const leasedUntil = this.database.receiverLeases.get(name);
    return this.receiver(name, now).nextAt <= now && (leasedUntil === undefined || leasedUntil <= now);
  }

  private isOriginFree({ origin, receiver }: DueDelivery, now: Date): boolean {
    return receiver.verifiedAt !== undefined || this.isFree(origin, now);
  }

  /** If one delivery is tried at a time: keeps others of the lane, and of its unverified origin, from being claimed. */
  private takeReceiver({ lane, origin, receiver }: DueDelivery, now: Date, until: Date): boolean {
    const names = isProbed(receiver) ? [lane, ...(receiver.verifiedAt === undefined ? [origin] : [])] : [];
    if (!names.every((name) => this.isFree(name, now))) return false;
    for (const name of names) {
      this.database.receivers.set(name, { ...this.receiver(name, now), nextAt: until });
      this.database.receiverLeases.set(name, until);
    }
    return true;
  }

  /** A receiver that was wanted during the only attempt stays free. Another attempt changes nothing of it meanwhile. */
  private setReceiver(name: string, next: Receiver, lease: DeliveryLease, now: Date): void {
    const { receivers, receiverLeases } = this.database;
    const leasedUntil = receiverLeases.get(name);
    const nextAt = receivers.get(name)?.nextAt;
    if (leasedUntil !== undefined && leasedUntil > now && leasedUntil.getTime() !== endOf(lease)) return;
    const isWanted = leasedUntil !== undefined && nextAt !== undefined && nextAt < leasedUntil;
    receivers.set(name, isWanted ? { ...next, nextAt } : next);
    receiverLeases.delete(name);
  }

  async record(lease: DeliveryLease, next: AttemptOutcome, result: AttemptResult, now: Date): Promise<void> {
    const { id, fence, lane, origin, receiver } = lease;
    if (next.receiver !== receiver) this.setReceiver(lane, next.receiver, lease, now);
    if (receiver.verifiedAt === undefined) {
      this.setReceiver(origin, { ...newReceiver(now), nextAt: next.originFreeAt }, lease, now);
    }
    const stored = this.database.deliveries.find((known) => known.id === id);
    if (stored === undefined) return;
    const endpoint = this.endpointOf(stored);
    const failingSince = result.kind === "failed" ? (endpoint.failingSince ?? now) : undefined;
    this.database.endpoints.set(endpoint.id, { ...endpoint, failingSince });
    if (stored.fence !== fence) return;
    const wanted = wantedDelivery(stored);
    stored.delivery = wanted === undefined ? next.delivery : { ...wanted, detail: next.delivery.detail };
    stored.leasedUntil = undefined;
  }

  async switchOff({ id }: Endpoint, reason: OffReason, now: Date, failingSince: Date): Promise<boolean> {
    const known = this.database.endpoints.get(id);
    if (known === undefined || known.off !== undefined) return false;
    if (reason === "failing" && (known.failingSince === undefined || known.failingSince > failingSince)) return false;
    this.database.endpoints.set(id, { ...known, off: { at: now, reason } });
    this.database.giveUpDeliveries(id, now);
    return true;
  }

  async list(account: AccountId, limit: number, before: DeliveryId | undefined): Promise<ListedDelivery[]> {
    return this.database.deliveries
      .filter(({ id, event }) => event.accountId === account && (before === undefined || id < before))
      .sort((a, b) => b.id - a.id)
      .slice(0, limit)
      .map((stored) => this.listed(stored));
  }

  async ofTask(account: AccountId, task: TaskId): Promise<ListedDelivery[]> {
    return this.database.deliveries
      .filter(({ event }) => event.accountId === account && "taskId" in event && event.taskId === task)
      .sort((a, b) => a.id - b.id)
      .map((stored) => this.listed(stored));
  }

  private listed(stored: Stored): ListedDelivery {
    const { id, delivery, event } = stored;
    return { id, delivery, event, url: this.urlOf(stored) };
  }

  async resend(id: DeliveryId, account: AccountId, now: Date): Promise<Result<void, NotFound | EndpointOff>> {
    const stored = this.database.deliveries.find((known) => known.id === id && known.event.accountId === account);
    if (stored === undefined) return err(notFound(`There is no delivery ${id} on this account.`));
    if (this.endpointOf(stored).off !== undefined) return err({ kind: "endpoint_off" });
    stored.delivery = { ...pendingAt(now), detail: stored.delivery.detail };
    const receiver = this.receiver(stored.lane, now);
    if (receiver.nextAt > now) this.database.receivers.set(stored.lane, { ...receiver, nextAt: now });
    if (!isLeased(stored, now)) stored.fence += 1;
    return ok(undefined);
  }

  async bringForward(latest: Date, dueAt: Date): Promise<void> {
    for (const stored of this.database.deliveries) {
      const { delivery } = stored;
      if (delivery.state === "pending" && delivery.dueAt > latest) stored.delivery = { ...delivery, dueAt };
      if (isLeased(stored, latest)) stored.leasedUntil = dueAt;
    }
    for (const [name, receiver] of this.database.receivers) {
      if (receiver.nextAt > latest) this.database.receivers.set(name, { ...receiver, nextAt: dueAt });
    }
    for (const [name, until] of this.database.receiverLeases) {
      if (until > latest) this.database.receiverLeases.set(name, dueAt);
    }
  }

  async deleteEvents(before: Date, limit: number): Promise<number> {
    const { database } = this;
    const old = database.events
      .filter(({ at }) => at < before)
      .sort((a, b) => a.at.getTime() - b.at.getTime())
      .slice(0, limit);
    database.events = database.events.filter((event) => !old.includes(event));
    database.deliveries = database.deliveries.filter(({ event }) => !old.includes(event));
    for (const event of old) if (event.type !== "credits.low") database.eraseWebhookUrl(event.taskId);
    for (const [name, { nextAt }] of database.receivers) {
      if (nextAt >= before) continue;
      database.receivers.delete(name);
      database.receiverLeases.delete(name);
    }
    return old.length;
  }

  private mustWait({ event, lane }: Stored): boolean {
    return this.database.deliveries.some(
      (earlier) =>
        earlier.delivery.state === "pending" &&
        earlier.lane === lane &&
        "taskId" in earlier.event &&
        "taskId" in event &&
        earlier.event.taskId === event.taskId &&
        earlier.event.number < event.number,
    );
  }

  private endpointOf({ endpointId }: Stored): Endpoint {
    return this.database.endpoints.get(endpointId) as Endpoint;
  }

  private urlOf(stored: Stored): string {
    const { event } = stored;
    const task = "taskId" in event ? this.database.tasks.get(event.taskId)?.task : undefined;
    return (this.endpointOf(stored).url ?? task?.request.webhookUrl) as string;
  }
}

const dueOf = ({ delivery }: Stored): number =>
  delivery.state === "pending" ? delivery.dueAt.getTime() : Number.POSITIVE_INFINITY;

const isLeased = ({ leasedUntil }: Stored, now: Date): boolean => leasedUntil !== undefined && leasedUntil > now;

/** If it was sent again since it was leased: how it is pending. */
const wantedDelivery = ({ delivery, leasedUntil }: Stored): Delivery | undefined =>
  delivery.state === "pending" && leasedUntil !== undefined && delivery.dueAt < leasedUntil ? delivery : undefined;

/** When the lease ends. */
const endOf = ({ delivery }: DeliveryLease): number => delivery.dueAt.getTime();

/** The first of each key before the second ones, and at most `limit` of one key. The order is stable. */
const inTurns = (due: readonly Stored[], keyOf: (stored: Stored) => string, limit: number): readonly Stored[] => {
  const counts = new Map<string, number>();
  const turns = due.map((stored) => {
    const key = keyOf(stored);
    const turn = counts.get(key) ?? 0;
    counts.set(key, turn + 1);
    return { stored, turn };
  });
  return turns
    .filter(({ turn }) => turn < limit)
    .sort((a, b) => a.turn - b.turn)
    .map(({ stored }) => stored);
};
