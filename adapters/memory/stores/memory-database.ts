import type { OperatorAction } from "../../../application/ports/stores/operator-log.js";
import type { StageTimes } from "../../../application/ports/stores/operator-store.js";
import type { Account } from "../../../domain/accounts/account.js";
import type { ApiKey, ApiKeyId } from "../../../domain/accounts/api-key.js";
import type { PasswordLink } from "../../../domain/accounts/password.js";
import type { Session } from "../../../domain/accounts/session.js";
import { dayOf, monthOf, type Spending } from "../../../domain/credits/budget.js";
import { credits } from "../../../domain/credits/credits.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import { type Booked, book, type LedgerEntry, purchaseEntry } from "../../../domain/credits/ledger.js";
import type { Order, OrderId, PaidOrder } from "../../../domain/credits/order.js";
import type { PaymentReturn } from "../../../domain/credits/payment-return.js";
import type { Standing } from "../../../domain/credits/standing.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { ObjectName } from "../../../domain/images/object-name.js";
import type { AccountEvent, NewEvent } from "../../../domain/tasks/account-event.js";
import type { DeletedBy, Withheld } from "../../../domain/tasks/out-of-sight.js";
import type { Task } from "../../../domain/tasks/task.js";
import type { Visibility } from "../../../domain/tasks/visibility.js";
import { type Delivery, giveUpDelivery, pendingAt } from "../../../domain/webhooks/webhook-delivery.js";
import type { Endpoint, EndpointId } from "../../../domain/webhooks/webhook-endpoint.js";
import type { Receiver } from "../../../domain/webhooks/webhook-receiver.js";

type StoredAccount = {
  account: Account;
  passwordHash: string | undefined;
  standing: Standing;
  lastTurn: number;
  closedAt?: Date;
  erasedAt?: Date | undefined;
};
type StoredTask = {
  task: Task;
  place: string | undefined;
  dueAt: Date | undefined;
  /** A waiting task is not started before. */
  startAt?: Date | undefined;
  /** Until when a worker has the task, unless it gives it back. */
  leasedUntil?: Date | undefined;
  fence: number;
  hidden: boolean;
  hiddenAt?: Date | undefined;
  textsErased?: boolean;
  times?: Omit<StageTimes, "submittedAt">;
  accepted?: { submittedAt: Date; upstreamTaskId: string };
  deletedBy?: DeletedBy | undefined;
  withheld?: Withheld | undefined;
  chosenVisibility?: Visibility | undefined;
};
type StoredIdempotencyKey = {
  accountId: AccountId;
  key: IdempotencyKey;
  taskId: TaskId;
  requestSha256: string;
  createdAt: Date;
};

type StoredDelivery = {
  id: number;
  event: AccountEvent;
  endpointId: EndpointId;
  lane: string;
  delivery: Delivery;
  /** Until when a worker attempts it, unless it records the result earlier. */
  leasedUntil?: Date | undefined;
  fence: number;
};

/** The data that the in-memory stores share. Code without an `await` is a transaction: nothing runs in between. */
export class MemoryDatabase {
  readonly accounts = new Map<AccountId, StoredAccount>();
  readonly orders = new Map<OrderId, Order>();
  /** What is known of money that came back, by its id, and of which payment or order. */
  readonly returns = new Map<string, { returned: PaymentReturn; of: string; recordedAt: Date }>();
  readonly keys = new Map<ApiKeyId, ApiKey>();
  readonly tasks = new Map<TaskId, StoredTask>();
  /** The turn of the task that was started last (domain/tasks/queue.ts). */
  round = 1;
  readonly ledger: LedgerEntry[] = [];
  /** By the digest of the token, like `links`. */
  readonly sessions = new Map<string, Session>();
  readonly links = new Map<string, PasswordLink>();
  /** Uploaded images by name. `deleteAt`: once set, nothing can refer to it any more. */
  readonly references = new Map<ObjectName, { content: string; bytes: number; deleteAt: Date | undefined }>();
  /** When each account has uploaded an image that it has not used since. */
  readonly uploads: { accountId: AccountId; name: ObjectName; uploadedAt: Date }[] = [];
  readonly taskReferences = new Map<TaskId, ReadonlySet<ObjectName>>();
  idempotencyKeys: StoredIdempotencyKey[] = [];
  events: AccountEvent[] = [];
  readonly endpoints = new Map<EndpointId, Endpoint>();
  deliveries: StoredDelivery[] = [];
  /** Of lanes, and of origins (domain/webhooks/webhook-receiver.ts). */
  readonly receivers = new Map<string, Receiver>();
  /** Until when the only attempt has a receiver, unless its result is recorded earlier. */
  readonly receiverLeases = new Map<string, Date>();
  readonly operatorActions: OperatorAction[] = [];
  private readonly lastEvents = new Map<AccountId, number>();
  private lastDelivery = 0;

  /** Throws if the account does not exist. */
  account(id: AccountId): StoredAccount {
    const stored = this.accounts.get(id);
    if (stored === undefined) throw new Error(`there is no account ${id}`);
    return stored;
  }

  /** Stores the paid order, its ledger entry and the account's new balance. */
  recordPurchase(order: PaidOrder): void {
    this.orders.set(order.id, order);
    this.book(purchaseEntry(order));
  }

  /** Stores the entry, and what the account has and owes after it (domain/credits/ledger.ts). */
  book(entry: LedgerEntry): void {
    const { credits: balance, debt = credits(0) } = this.account(entry.accountId).standing;
    this.storeBooked(entry.accountId, book({ credits: balance, debt }, entry));
  }

  storeBooked(id: AccountId, { funds, entries }: Booked): void {
    const account = this.account(id);
    account.standing = {
      ...account.standing,
      credits: funds.credits,
      debt: funds.debt === 0 ? undefined : funds.debt,
    };
    this.ledger.push(...entries);
  }

  /** The task, unless it is hidden or belongs to another account. */
  shown(id: TaskId, owner: AccountId): StoredTask | undefined {
    const stored = this.tasks.get(id);
    return stored?.task.accountId === owner && !stored.hidden ? stored : undefined;
  }

  /** Sets the password, and deletes all sessions and links of the account. */
  changePassword(stored: StoredAccount, passwordHash: string): void {
    const { id, email } = stored.account;
    stored.passwordHash = passwordHash;
    for (const [token, session] of this.sessions) if (session.accountId === id) this.sessions.delete(token);
    for (const [token, link] of this.links) if (link.email === email) this.links.delete(token);
  }

  /** The definition of domain/credits/budget.ts, without running sums. */
  spendingOf(key: ApiKeyId, now: Date): Spending {
    const [day, month] = [dayOf(now), monthOf(now)];
    const spending = { today: 0, thisMonth: 0 };
    for (const { task } of this.tasks.values()) {
      if (task.apiKeyId !== key || task.state === "failed") continue;
      const reservedOn = dayOf(task.reservedAt);
      if (reservedOn === day) spending.today += task.reservation.credits;
      if (month.first <= reservedOn && reservedOn <= month.last) spending.thisMonth += task.reservation.credits;
    }
    return spending;
  }

  tasksOf(owner: AccountId): Task[] {
    return [...this.tasks.values()].map(({ task }) => task).filter(({ accountId }) => accountId === owner);
  }

  ledgerOf(owner: AccountId): LedgerEntry[] {
    return this.ledger.filter(({ accountId }) => accountId === owner);
  }

  recordUpload(accountId: AccountId, name: ObjectName, uploadedAt: Date): void {
    const known = this.uploads.find((upload) => upload.accountId === accountId && upload.name === name);
    if (known === undefined) this.uploads.push({ accountId, name, uploadedAt });
    else known.uploadedAt = new Date(Math.max(known.uploadedAt.getTime(), uploadedAt.getTime()));
  }

  /** The task no longer uses its images: its account has them unused, uploaded at that time. */
  releaseReferences(id: TaskId, accountId: AccountId, uploadedAt: Date): void {
    for (const name of this.taskReferences.get(id) ?? []) this.recordUpload(accountId, name, uploadedAt);
    this.taskReferences.delete(id);
  }

  removeUploads(unwanted: (upload: MemoryDatabase["uploads"][number]) => boolean): void {
    this.uploads.splice(0, this.uploads.length, ...this.uploads.filter((upload) => !unwanted(upload)));
  }

  /** Stores the event, and a delivery for each endpoint that gets it. */
  recordEvent(event: NewEvent, webhookUrl: string | undefined, dueAt: Date): void {
    const { accountId } = event;
    const number = this.lastEventOf(accountId) + 1;
    this.lastEvents.set(accountId, number);
    const numbered = { ...event, number };
    this.events.push(numbered);
    for (const endpoint of this.endpoints.values()) {
      if (endpoint.accountId !== accountId || endpoint.off !== undefined) continue;
      if (endpoint.url === undefined && webhookUrl === undefined) continue;
      const lane =
        endpoint.url === undefined ? `${accountId} ${new URL(webhookUrl as string).origin}` : String(endpoint.id);
      this.lastDelivery += 1;
      const delivery = pendingAt(dueAt);
      this.deliveries.push({
        id: this.lastDelivery,
        event: numbered,
        endpointId: endpoint.id,
        lane,
        delivery,
        fence: 0,
      });
    }
  }

  /** 0 if the account has no event. */
  lastEventOf(account: AccountId): number {
    return this.lastEvents.get(account) ?? 0;
  }

  /** Deletes the events of a task with their deliveries, unless one of these is pending. */
  deleteReadEvents(task: TaskId): void {
    const isOf = (event: AccountEvent) => event.type !== "credits.low" && event.taskId === task;
    const isPending = (event: AccountEvent) =>
      this.deliveries.some((stored) => stored.event === event && stored.delivery.state === "pending");
    const read = new Set(this.events.filter((event) => isOf(event) && !isPending(event)));
    this.events = this.events.filter((event) => !read.has(event));
    this.deliveries = this.deliveries.filter(({ event }) => !read.has(event));
  }

  /** Erases the `webhook_url` of a task that is deleted or has failed and has no event left. */
  eraseWebhookUrl(id: TaskId): void {
    const stored = this.tasks.get(id);
    if (stored === undefined || (stored.task.state !== "failed" && !stored.hidden)) return;
    if (this.events.some((event) => event.type !== "credits.low" && event.taskId === id)) return;
    stored.task = { ...stored.task, request: { ...stored.task.request, webhookUrl: undefined } };
  }

  giveUpDeliveries(endpoint: EndpointId, now: Date): void {
    for (const stored of this.deliveries) {
      if (stored.endpointId !== endpoint || stored.delivery.state !== "pending") continue;
      stored.delivery = giveUpDelivery(stored.delivery, "the endpoint is switched off", now);
    }
  }
}
