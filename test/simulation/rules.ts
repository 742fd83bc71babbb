import type { MemoryObjectStorage } from "../../adapters/memory/memory-object-storage.js";
import type { MemoryDatabase } from "../../adapters/memory/stores/memory-database.js";
import type { RateLimitedParty } from "../../application/ports/stores/rate-limits.js";
import type { DeliveryClaim, DeliveryId, DeliveryLease } from "../../application/ports/stores/webhook-stores.js";
import type { ApiKeyId } from "../../domain/accounts/api-key.js";
import { type Day, dayOf } from "../../domain/credits/budget.js";
import { audit } from "../../domain/credits/ledger.js";
import type { AccountId, TaskId } from "../../domain/ids.js";
import { thumbnailNameOf } from "../../domain/images/object-name.js";
import { isKept } from "../../domain/images/storage-status.js";
import {
  IDEMPOTENCY_KEPT_MILLISECONDS,
  PANORAMA_POLICY,
  RATE_LIMITS,
  RATE_WINDOW_MILLISECONDS,
  type RequestKind,
} from "../../domain/panorama-policy.js";
import { isActive, isInProgress, type Task } from "../../domain/tasks/task.js";
import type { Owner, Scheduler } from "./scheduler.js";
import type { SimulatedUpstream } from "./simulated-upstream.js";

/** A rule does not hold. */
export class RuleBroken extends Error {
  readonly rule: string;

  constructor(rule: string, detail: string) {
    super(`${rule}: ${detail}`);
    this.rule = rule;
  }
}

const require = (holds: boolean, rule: string, detail: () => string): void => {
  if (!holds) throw new RuleBroken(rule, detail());
};

/** The states that may follow in the store, by the state before. */
const NEXT_STATES: Record<Task["state"], readonly Task["state"][]> = {
  queued: ["queued", "reserved", "failed"],
  reserved: ["reserved", "queued", "submitted", "failed"],
  submitted: ["submitted", "generated", "failed"],
  generated: ["generated", "succeeded", "failed"],
  succeeded: ["succeeded"],
  failed: ["failed"],
};

const ENDED_WITHOUT_CHARGE: ReadonlySet<string> = new Set(["canceled", "failed", "reference unusable"]);

/** `row`: what the worker replaces when it writes its result. */
type ClaimedLease = { readonly until: Date; readonly fence: number; readonly row: unknown };

/** Whether the credits, the slots, the limits and the tasks are as they must be. */
export class Rules {
  private readonly database: MemoryDatabase;
  private readonly storage: MemoryObjectStorage;
  private readonly scheduler: Scheduler;
  private readonly concurrencyMax: ReadonlyMap<string, number>;
  private readonly budgets: ReadonlyMap<ApiKeyId, number>;
  private readonly lastSeen = new Map<TaskId, Task>();
  /** The number of each account's latest event. */
  private readonly lastEvents = new Map<AccountId, number>();
  private readonly lastDue = new Map<TaskId, Date | undefined>();
  private readonly lastLease = new Map<TaskId, { readonly until: Date | undefined; readonly fence: number }>();
  private readonly leases = new Map<DeliveryId, ClaimedLease>();
  private readonly admissions = new Map<string, number[]>();
  private readonly calls = new Map<string, number[]>();

  constructor(
    database: MemoryDatabase,
    storage: MemoryObjectStorage,
    scheduler: Scheduler,
    concurrencyMax: ReadonlyMap<string, number>,
    budgets: ReadonlyMap<ApiKeyId, number>,
  ) {
    this.database = database;
    this.storage = storage;
    this.scheduler = scheduler;
    this.concurrencyMax = concurrencyMax;
    this.budgets = budgets;
  }

  /** What holds after every call of a store. */
  afterStoreCall(): void {
    this.checkNewEvents();
    const active = new Map<AccountId, number>();
    const slots = new Map<string, number>();
    for (const { task, place } of this.database.tasks.values()) {
      if (isActive(task)) active.set(task.accountId, (active.get(task.accountId) ?? 0) + 1);
      if (place !== undefined && (task.state === "reserved" || task.state === "submitted")) {
        slots.set(place, (slots.get(place) ?? 0) + 1);
      }
      const last = this.lastSeen.get(task.id);
      if (last === task) continue;
      if (last !== undefined) this.checkTransition(last, task);
      else if (task.apiKeyId !== undefined) this.checkBudget(task.apiKeyId, dayOf(task.reservedAt));
      this.lastSeen.set(task.id, task);
    }
    for (const [id, { standing }] of this.database.accounts) {
      const count = active.get(id) ?? 0;
      require(standing.activeTasks === count, "the active tasks are counted", () =>
        `${standing.activeTasks} for ${count}`);
      require(count <= PANORAMA_POLICY.activeMax, "an account has at most five active tasks", () =>
        `${id} has ${count}`);
      require(standing.credits >= 0, "no balance is negative", () => `${id} has ${standing.credits}`);
    }
    for (const [place, count] of slots) {
      const max = this.concurrencyMax.get(place) ?? count;
      require(count <= max, "no place has more tasks than slots", () => `${place} has ${count} of ${max}`);
    }
  }

  /**
   * What holds after every call of a store while no clock is set: nobody takes over a valid lease, whatever is called,
   * and no due time has to be corrected.
   */
  checkDueTimes(call: string, args: readonly unknown[]): void {
    if (call === "tasks.bringForward") {
      for (const { task, dueAt } of this.database.tasks.values()) {
        require(this.lastDue.get(task.id) === dueAt, "a due time is corrected only after a clock was set", () =>
          task.id);
      }
    }
    for (const { task, dueAt, leasedUntil: until, fence } of this.database.tasks.values()) {
      this.lastDue.set(task.id, dueAt);
      const last = this.lastLease.get(task.id);
      const isTakenOver = last?.until !== undefined && last.until.getTime() > this.scheduler.now && fence > last.fence;
      require(!isTakenOver, "no valid lease is taken over", () => `${task.id}, by ${call}`);
      this.lastLease.set(task.id, { until, fence });
    }
    if (call === "deliveries.claim") {
      const { until } = args[0] as DeliveryClaim;
      for (const { id, fence, delivery } of this.database.deliveries) {
        if (delivery.state === "pending" && delivery.dueAt === until) this.checkLease(id, { until, fence, row: id });
      }
    } else if (call === "deliveries.record") this.leases.delete((args[0] as DeliveryLease).id);
  }

  private checkLease(id: DeliveryId, lease: ClaimedLease): void {
    const last = this.leases.get(id);
    this.leases.set(id, lease);
    if (last === undefined || last.row !== lease.row || last.fence + 1 !== lease.fence) return;
    require(last.until.getTime() <= this.scheduler.now, "no valid lease is taken over", () => String(id));
  }

  private checkTransition(last: Task, task: Task): void {
    const { id } = task;
    require(NEXT_STATES[last.state].includes(task.state), "a task moves on as it may", () =>
      `${id}: ${last.state} to ${task.state}`);
    if (last.state === "failed") {
      require(task.state === "failed" && task.failedAt === last.failedAt, "an end is final", () => id);
    }
    if (last.state === "succeeded" && task.state === "succeeded") {
      const kept = !isKept(last.image) || isKept(task.image);
      require(kept && task.image.imageName === last.image.imageName, "a stored image stays", () => id);
    }
  }

  private checkBudget(key: ApiKeyId, day: Day): void {
    const budget = this.budgets.get(key);
    if (budget === undefined) return;
    let spent = 0;
    for (const { task } of this.database.tasks.values()) {
      if (task.apiKeyId !== key || task.state === "failed" || dayOf(task.reservedAt) !== day) continue;
      spent += task.reservation.credits;
    }
    require(spent <= budget, "no key spends more than its budget", () => `${key} has spent ${spent} of ${budget}`);
  }

  /** A request of this party was admitted now. */
  admitted(party: RateLimitedParty, kind: RequestKind): void {
    const { now } = this.scheduler;
    const times = logOf(this.admissions, `${party} ${kind}`);
    times.push(now);
    const within = times.filter((at) => now - at < RATE_WINDOW_MILLISECONDS).length;
    const limit = RATE_LIMITS[kind].limit;
    require(within <= limit, "no key makes more requests than its limit", () =>
      `${party}: ${within} of ${limit} ${kind}s`);
  }

  /** A process sends a request to a provider now. */
  called(process: Owner, upstream: SimulatedUpstream, callsPerSecond: number): void {
    const { now } = this.scheduler;
    const times = logOf(this.calls, `${process.name} ${upstream.name}`);
    times.push(now);
    const within = times.filter((at) => now - at < 1_000).length;
    require(within <= Math.ceil(callsPerSecond), "no process calls a provider more often than it may", () =>
      `${within} calls in a second`);
  }

  /**
   * What holds at the end, when the processes had time to recover. `startedInVain`: tasks for which a generation was
   * started that they do not have, because of clocks that no rule can hold against.
   */
  atTheEnd(upstreams: readonly SimulatedUpstream[], startedInVain: ReadonlySet<TaskId>): void {
    const { database } = this;
    for (const [id, { standing }] of database.accounts) {
      const findings = audit(standing, database.ledgerOf(id), database.tasksOf(id));
      require(findings.length === 0, "the ledger is right", () => findings.join("; "));
      require(standing.activeTasks === 0, "no account has an active task at the end", () =>
        `${id}: ${standing.activeTasks}`);
    }
    for (const { task, hidden } of database.tasks.values()) {
      this.checkEnd(task, hidden, upstreams);
      if (!startedInVain.has(task.id)) this.checkCancellation(task, upstreams);
    }
    this.checkEvents();
    this.checkIdempotencyKeys();
  }

  private checkCancellation(task: Task, upstreams: readonly SimulatedUpstream[]): void {
    if (task.state !== "failed" || task.reason !== "canceled") return;
    const generations = upstreams.flatMap((upstream) => upstream.startedFor(task.id));
    // Of what the provider reports as failed, it does not matter whether its owner had wanted it canceled before.
    const isCharged = generations.some(({ state, wasDenied }) => !ENDED_WITHOUT_CHARGE.has(state) && !wasDenied);
    require(!isCharged, "a cancellation costs the service no generation", () => task.id);
  }

  private checkEnd(task: Task, hidden: boolean, upstreams: readonly SimulatedUpstream[]): void {
    const { id } = task;
    require(!isInProgress(task) || hidden, "every task ends", () => `${id} is ${task.state}`);
    if (task.state !== "succeeded") return;
    const generations = upstreams.flatMap((upstream) => upstream.startedFor(id));
    require(generations.some(({ state }) => state === "succeeded"), "a success was generated", () => id);
    const { objects } = this.storage;
    const { imageName, status } = task.image;
    const names = [imageName, thumbnailNameOf(imageName)];
    if (hidden) {
      require(!names.some((name) => objects.has(name)), "a deleted panorama leaves no object", () => id);
      return;
    }
    // An interrupted deletion has deleted the objects first, so that its owner can repeat it.
    const isStored = objects.has(imageName) || this.deletionsBegun.has(id);
    if (isKept(task.image)) require(isStored, "a saved image is stored", () => `${id}: ${status}`);
  }

  /**
   * Each account's events are numbered without gaps, and each transition has exactly one. Those of a deleted panorama
   * go.
   */
  private checkEvents(): void {
    const latest = new Map<AccountId, number>();
    const told = new Set<string>();
    for (const event of this.database.events) {
      const last = latest.get(event.accountId) ?? 0;
      require(event.number > last, "events are in the order of their numbers", () => `${event.number} after ${last}`);
      latest.set(event.accountId, event.number);
      if (event.type === "credits.low") continue;
      const name = `${event.taskId} ${event.type}`;
      require(!told.has(name), "a transition has at most one event", () => name);
      told.add(name);
    }
    for (const { task, hidden } of this.database.tasks.values()) {
      if (isActive(task)) continue;
      const expected = [`${task.id} panorama.${task.state}`];
      if (task.state === "succeeded" && isKept(task.image)) expected.push(`${task.id} panorama.saved`);
      for (const name of expected) {
        const isTold = told.delete(name);
        require(isTold || hidden, "a transition has an event, unless the panorama was deleted", () => name);
      }
    }
    require(told.size === 0, "nothing is told that has not happened", () => [...told].join());
  }

  /** An event that is deleted later has been seen here before. */
  private checkNewEvents(): void {
    for (const event of this.database.events) {
      const last = this.lastEvents.get(event.accountId) ?? 0;
      if (event.number <= last) continue;
      require(event.number === last + 1, "events are numbered without gaps", () => `${event.number} after ${last}`);
      this.lastEvents.set(event.accountId, event.number);
    }
  }

  /** An idempotency key names one task for as long as it is kept, unless the creation was refused. */
  private checkIdempotencyKeys(): void {
    const named = new Map<string, Task[]>();
    for (const { accountId, key, taskId } of this.used) {
      const task = this.database.tasks.get(taskId)?.task;
      if (task === undefined || leavesItsKeyFree(task)) continue;
      const name = `${accountId} ${key}`;
      named.set(name, [...(named.get(name) ?? []), task]);
    }
    for (const [name, tasks] of named) {
      const times = tasks.map(({ reservedAt }) => reservedAt.getTime()).sort((a, b) => a - b);
      const tooClose = times.some((at, index) => at - (times[index - 1] ?? -Infinity) < IDEMPOTENCY_KEPT_MILLISECONDS);
      require(!tooClose, "an idempotency key names one task", () => `${name}: ${tasks.map(({ id }) => id).join()}`);
    }
  }

  readonly deletionsBegun = new Set<TaskId>();
  /** The idempotency keys of all creations that clients have sent. */
  readonly used: { readonly accountId: AccountId; readonly key: string; readonly taskId: TaskId }[] = [];
}

const logOf = (logs: Map<string, number[]>, key: string): number[] => {
  const log = logs.get(key) ?? [];
  logs.set(key, log);
  return log;
};

/** The client was told that nothing was created. The simulated provider refuses content only at a creation. */
const leavesItsKeyFree = (task: Task): boolean =>
  task.state === "failed" &&
  ["refused", "content_refused", "provider_unavailable", "submission_unknown", "never_submitted"].includes(task.reason);
