import type { AccountId, TaskId } from "../ids.js";
import type { Credits } from "./credits.js";
import { type LedgerEntry, sumOf } from "./ledger.js";
import type { OrderId } from "./order.js";
import type { Reservation } from "./reservation.js";
import type { Standing } from "./standing.js";

/**
 * A task as the audit sees it: anything with a reservation. `state` is shown in findings. The task counts as active
 * while its credits are held.
 */
export type AuditedTask = { readonly id: TaskId; readonly state: string; readonly reservation: Reservation };

/** The state of the task decides: `failed` is refunded, `succeeded` is captured, every other state is held. */
export const auditedTask = (id: TaskId, accountId: AccountId, state: string, credits: Credits): AuditedTask => {
  const reserved = { taskId: id, accountId, credits };
  if (state === "failed") return { id, state, reservation: { ...reserved, state: "refunded" } };
  return { id, state, reservation: { ...reserved, state: state === "succeeded" ? "captured" : "held" } };
};

/** An account's audit in progress. */
export type LedgerAudit = {
  /** Adds some tasks of the account, with all entries of these tasks. */
  readonly addTasks: (tasks: readonly AuditedTask[], entries: readonly LedgerEntry[]) => void;
  /** Adds some other entries of the account. One with a task id is an error: the account has no such task. */
  readonly addEntries: (entries: readonly LedgerEntry[]) => void;
  /** Adds some paid orders of the account, each of them once. */
  readonly addOrders: (paid: readonly BoughtCredits[]) => void;
  /** Ends the audit. Returns one sentence per error. */
  readonly finish: () => string[];
};

/** The credits of a paid order, of which `takenBack` were taken back (payment-return.ts). */
export type BoughtCredits = {
  readonly id: OrderId;
  readonly credits: Credits;
  readonly takenBack?: Credits | undefined;
};

/**
 * Audits an account part by part, because it may have more tasks than the memory holds:
 * - balance: the sum of all entries, not negative
 * - debt: the sum of the `debt` entries
 * - active tasks: as many as hold credits
 * - each order: credited at most once; the sum of its entries is 0 to its credits, and fits a paid order (`addOrders`)
 * - each task: exactly the entries of its state
 */
export const startAudit = ({ credits, activeTasks, debt = 0 as Credits }: Omit<Standing, "accountId">): LedgerAudit => {
  let sum = 0;
  let debtSum = 0;
  let active = 0;
  const orders = new Map<OrderId, { purchases: number; bought: number; booked: number }>();
  /** The remaining credits of each paid order. */
  const expectedLeft = new Map<OrderId, number>();
  const unknownTasks = new Set<TaskId>();
  const taskFindings: string[] = [];
  return {
    addTasks: (tasks, entries) => {
      sum += sumOf(entries);
      const entriesOf = entriesByTask(entries);
      for (const task of tasks) {
        if (task.reservation.state === "held") active += 1;
        taskFindings.push(...auditTask(task, entriesOf.get(task.id) ?? []));
      }
    },
    addEntries: (entries) => {
      sum += sumOf(entries);
      for (const entry of entries) {
        if ("taskId" in entry) unknownTasks.add(entry.taskId);
        if (entry.kind === "debt") debtSum += entry.credits;
        if (!("orderId" in entry)) continue;
        const order = orders.get(entry.orderId) ?? { purchases: 0, bought: 0, booked: 0 };
        orders.set(entry.orderId, order);
        order.booked += entry.credits;
        if (entry.kind !== "purchase") continue;
        order.purchases += 1;
        order.bought += entry.credits;
      }
    },
    addOrders: (paid) => {
      for (const { id, credits, takenBack = 0 } of paid) expectedLeft.set(id, credits - takenBack);
    },
    finish: () => {
      const totals: string[] = [];
      if (sum !== credits) totals.push(`the balance is ${credits}, but the sum of the entries is ${sum}`);
      if (credits < 0) totals.push(`the balance is negative: ${credits}`);
      if (debtSum !== debt) totals.push(`the debt is ${debt}, but the sum of its entries is ${debtSum}`);
      if (active !== activeTasks) totals.push(`${activeTasks} active tasks are counted, but there are ${active}`);
      const unknown = [...unknownTasks].map((id) => `there are entries for task ${id}, which does not exist`);
      const orderFindings = [...orders].flatMap(([id, { purchases, bought, booked }]) => [
        ...(purchases > 1 ? [`order ${id} was credited more than once`] : []),
        ...(booked < 0 || booked > bought ? [`order ${id} gave ${bought} credits, of which ${booked} are left`] : []),
      ]);
      const creditFindings = [...expectedLeft].flatMap(([id, left]) => {
        const booked = orders.get(id)?.booked ?? 0;
        return booked === left ? [] : [`order ${id} has ${left} credits left, but the sum of its entries is ${booked}`];
      });
      return [...totals, ...orderFindings, ...creditFindings, ...taskFindings, ...unknown];
    },
  };
};

const entriesByTask = (entries: readonly LedgerEntry[]): Map<TaskId, LedgerEntry[]> => {
  const entriesOf = new Map<TaskId, LedgerEntry[]>();
  for (const entry of entries) {
    if (!("taskId" in entry)) continue;
    const others = entriesOf.get(entry.taskId);
    if (others === undefined) entriesOf.set(entry.taskId, [entry]);
    else others.push(entry);
  }
  return entriesOf;
};

const auditTask = ({ id, state, reservation }: AuditedTask, entries: readonly LedgerEntry[]): string[] => {
  const { credits: cost } = reservation;
  const required =
    reservation.state === "refunded" ? [`reservation ${-cost}`, `refund ${cost}`] : [`reservation ${-cost}`];
  const found = entries.map(({ kind, credits: amount }) => `${kind} ${amount}`);
  if ([...required].sort().join() === [...found].sort().join()) return [];
  return [`task ${id} is ${state} and must have [${required.join(", ")}], but has [${found.join(", ")}]`];
};

/** Audits an account whose ledger is in memory (`startAudit`), without paid orders. Returns one sentence per error. */
export const audit = (
  standing: Omit<Standing, "accountId">,
  entries: readonly LedgerEntry[],
  tasks: readonly AuditedTask[],
): string[] => {
  const running = startAudit(standing);
  const ids = new Set(tasks.map(({ id }) => id));
  const isOfTask = (entry: LedgerEntry) => "taskId" in entry && ids.has(entry.taskId);
  running.addTasks(tasks, entries.filter(isOfTask));
  running.addEntries(entries.filter((entry) => !isOfTask(entry)));
  return running.finish();
};
