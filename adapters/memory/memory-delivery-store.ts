import { err, ok, type Result } from "neverthrow";
import { type NotFound, notFound } from "../../application/errors.js";
import type {
  DeliveryId,
  DeliveryLease,
  DeliveryStore,
  EndpointOff,
  ListedDelivery,
} from "../../application/ports/delivery-store.js";
import type { AccountId } from "../../domain/account.js";
import { type AttemptResult, type Delivery, pendingAt } from "../../domain/webhook-delivery.js";
import type { Endpoint, OffReason } from "../../domain/webhook-endpoint.js";
import type { MemoryDatabase } from "./memory-database.js";

type Stored = MemoryDatabase["deliveries"][number];

/** Deliveries in memory. Every method runs without an `await`, so it is atomic. */
export class MemoryDeliveryStore implements DeliveryStore {
  private readonly database: MemoryDatabase;

  constructor(database: MemoryDatabase) {
    this.database = database;
  }

  async claim(
    now: Date,
    until: Date,
    limit: number,
    laneLimit: number,
    busyLanes: readonly string[],
  ): Promise<DeliveryLease[]> {
    const counts = new Map<string, number>();
    const due = this.database.deliveries
      .filter((stored) => dueOf(stored) <= now.getTime() && !busyLanes.includes(stored.lane) && !this.mustWait(stored))
      .sort((a, b) => dueOf(a) - dueOf(b) || a.id - b.id)
      .filter(({ lane }) => {
        const count = (counts.get(lane) ?? 0) + 1;
        counts.set(lane, count);
        return count <= laneLimit;
      });
    return due
      .slice(0, limit)
      .sort((a, b) => a.id - b.id)
      .map((stored) => {
        const delivery = { ...(stored.delivery as Extract<Delivery, { state: "pending" }>), dueAt: until };
        stored.delivery = delivery;
        stored.fence += 1;
        const { id, fence, lane, event } = stored;
        const task = event.type === "credits.low" ? undefined : this.database.tasks.get(event.taskId)?.task;
        const endpoint = this.endpointOf(stored);
        return { id, fence, lane, delivery, event, task, endpoint, url: this.urlOf(stored) };
      });
  }

  async record({ id, fence }: DeliveryLease, next: Delivery, result: AttemptResult, now: Date): Promise<void> {
    const stored = this.database.deliveries.find((known) => known.id === id);
    if (stored === undefined) return;
    const endpoint = this.endpointOf(stored);
    const failingSince = result.kind === "failed" ? (endpoint.failingSince ?? now) : undefined;
    this.database.endpoints.set(endpoint.id, { ...endpoint, failingSince });
    if (stored.fence === fence) stored.delivery = next;
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
    stored.fence += 1;
    return ok(undefined);
  }

  async bringForward(latest: Date, dueAt: Date): Promise<void> {
    for (const stored of this.database.deliveries) {
      const { delivery } = stored;
      if (delivery.state === "pending" && delivery.dueAt > latest) stored.delivery = { ...delivery, dueAt };
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
