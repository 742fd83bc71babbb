import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type {
  AttemptOutcome,
  DeliveryClaim,
  DeliveryId,
  DeliveryLease,
  DeliveryStore,
  EndpointOff,
  ListedDelivery,
} from "../../application/ports/delivery-store.js";
import type { AccountId } from "../../domain/account.js";
import type { DueDelivery } from "../../domain/share-slots.js";
import { type AttemptResult, type Delivery, pendingAt } from "../../domain/webhook-delivery.js";
import type { Endpoint, OffReason } from "../../domain/webhook-endpoint.js";
import { isProbed, newReceiver, type Receiver } from "../../domain/webhook-receiver.js";
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
      .filter((stored) => dueOf(stored) <= now.getTime() && !busyLanes.includes(stored.lane) && !this.mustWait(stored))
      .filter(({ lane }) => this.receiver(lane, now).nextAt <= now)
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

  private isOriginFree({ origin, receiver }: DueDelivery, now: Date): boolean {
    return receiver.verifiedAt !== undefined || this.receiver(origin, now).nextAt <= now;
  }

  /** If one delivery is tried at a time: keeps others of the lane, and of its unverified origin, from being claimed. */
  private takeReceiver({ lane, origin, receiver }: DueDelivery, now: Date, until: Date): boolean {
    const names = isProbed(receiver) ? [lane, ...(receiver.verifiedAt === undefined ? [origin] : [])] : [];
    const taken = names.map((name) => [name, this.receiver(name, now)] as const);
    if (taken.some(([, { nextAt }]) => nextAt > now)) return false;
    for (const [name, free] of taken) this.database.receivers.set(name, { ...free, nextAt: until });
    return true;
  }

  async record(lease: DeliveryLease, next: AttemptOutcome, result: AttemptResult, now: Date): Promise<void> {
    const { id, fence, lane, origin, receiver } = lease;
    if (next.receiver !== receiver) this.database.receivers.set(lane, next.receiver);
    if (receiver.verifiedAt === undefined) {
      this.database.receivers.set(origin, { ...newReceiver(now), nextAt: next.originFreeAt });
    }
    const stored = this.database.deliveries.find((known) => known.id === id);
    if (stored === undefined) return;
    const endpoint = this.endpointOf(stored);
    const failingSince = result.kind === "failed" ? (endpoint.failingSince ?? now) : undefined;
    this.database.endpoints.set(endpoint.id, { ...endpoint, failingSince });
    if (stored.fence === fence) stored.delivery = next.delivery;
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
      .map((stored) => {
        const { id, delivery, event } = stored;
        return { id, delivery, event, url: this.urlOf(stored) };
      });
  }

  async resend(id: DeliveryId, account: AccountId, now: Date): Promise<Result<void, NotFound | EndpointOff>> {
    const stored = this.database.deliveries.find((known) => known.id === id && known.event.accountId === account);
    if (stored === undefined) return err(notFound(`There is no delivery ${id} on this account.`));
    if (this.endpointOf(stored).off !== undefined) return err({ kind: "endpoint_off" });
    stored.delivery = { ...pendingAt(now), detail: stored.delivery.detail };
    const receiver = this.receiver(stored.lane, now);
    if (receiver.nextAt > now) this.database.receivers.set(stored.lane, { ...receiver, nextAt: now });
    stored.fence += 1;
    return ok(undefined);
  }

  async bringForward(latest: Date, dueAt: Date): Promise<void> {
    for (const stored of this.database.deliveries) {
      const { delivery } = stored;
      if (delivery.state === "pending" && delivery.dueAt > latest) stored.delivery = { ...delivery, dueAt };
    }
    for (const [name, receiver] of this.database.receivers) {
      if (receiver.nextAt > latest) this.database.receivers.set(name, { ...receiver, nextAt: dueAt });
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
    for (const [name, { nextAt }] of database.receivers) if (nextAt < before) database.receivers.delete(name);
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
