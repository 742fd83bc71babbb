import type { AccountId, Standing } from "./account.js";
import { type Brand, made } from "./brand.js";
import type { OrderId, PaidOrder } from "./order.js";
import type { HeldReservation, RefundedReservation, Reservation } from "./reservation.js";
import type { TaskId } from "./task-id.js";

/**
 * One entry of an account's ledger. Entries are only added, never changed. The balance is the sum of their `credits`:
 * positive for a purchase and a refund, negative for a reservation.
 */
export type LedgerEntry = { readonly accountId: AccountId; readonly credits: number; readonly at: Date } & (
  | { readonly kind: "purchase"; readonly orderId: OrderId }
  | { readonly kind: "reservation" | "refund"; readonly taskId: TaskId }
);

/** The place of an entry in its ledger. Later entries have greater numbers. */
export type LedgerCursor = Brand<number, "LedgerCursor">;

/** Returns `undefined` for text that cannot be a cursor. */
export const parseLedgerCursor = (text: string): LedgerCursor | undefined =>
  /^[0-9]{1,15}$/.test(text) ? (Number(text) as LedgerCursor) : undefined;

/** Makes one from the number that a store gives an entry. Throws for a number that is not an integer from 0 to 10^15 - 1. */
export const ledgerCursor = (place: number): LedgerCursor =>
  made(parseLedgerCursor(String(place)), String(place), "a cursor of the ledger: an integer from 0 to 10^15 - 1");

/** The entry of an order when it is paid. */
export const purchaseEntry = (order: PaidOrder): LedgerEntry => ({
  kind: "purchase",
  accountId: order.accountId,
  orderId: order.id,
  credits: order.credits,
  at: order.paidAt,
});

/** The entry of credits that are held for a task. */
export const reservationEntry = ({ accountId, taskId, credits }: HeldReservation, at: Date): LedgerEntry => ({
  kind: "reservation",
  accountId,
  taskId,
  credits: -credits,
  at,
});

/** The entry of credits that a failed task returns. */
export const refundEntry = ({ accountId, taskId, credits }: RefundedReservation, at: Date): LedgerEntry => ({
  kind: "refund",
  accountId,
  taskId,
  credits,
  at,
});

/** The balance that the entries give, in credits. */
export const sumOf = (entries: readonly LedgerEntry[]): number =>
  entries.reduce((sum, entry) => sum + entry.credits, 0);

/** What was paid for: anything with a reservation. `state` names its state in a finding. It is active while it holds credits. */
export type PaidTask = { readonly id: TaskId; readonly state: string; readonly reservation: Reservation };

/**
 * Returns one sentence for each error in an account's ledger, and an empty array if there is none. Checks that the
 * balance is the sum of the entries and not negative, that the count of active tasks is right, that no order was
 * credited twice, and that every task has exactly the entries that its state requires.
 */
export const audit = (
  { credits, activeTasks }: Omit<Standing, "accountId">,
  entries: readonly LedgerEntry[],
  tasks: readonly PaidTask[],
): string[] => {
  const findings: string[] = [];
  const sum = sumOf(entries);
  if (sum !== credits) findings.push(`the balance is ${credits}, but the sum of the entries is ${sum}`);
  if (credits < 0) findings.push(`the balance is negative: ${credits}`);
  const active = tasks.filter(({ reservation }) => reservation.state === "held").length;
  if (active !== activeTasks) findings.push(`${activeTasks} active tasks are counted, but there are ${active}`);

  const entriesOf = new Map<TaskId, LedgerEntry[]>();
  const creditedOrders = new Set<OrderId>();
  for (const entry of entries) {
    if (entry.kind === "purchase") {
      if (creditedOrders.has(entry.orderId)) findings.push(`order ${entry.orderId} was credited more than once`);
      creditedOrders.add(entry.orderId);
      continue;
    }
    entriesOf.set(entry.taskId, [...(entriesOf.get(entry.taskId) ?? []), entry]);
  }
  for (const task of tasks) {
    const { credits: cost } = task.reservation;
    const required =
      task.reservation.state === "refunded" ? [`reservation ${-cost}`, `refund ${cost}`] : [`reservation ${-cost}`];
    const found = (entriesOf.get(task.id) ?? []).map(({ kind, credits: amount }) => `${kind} ${amount}`);
    entriesOf.delete(task.id);
    if ([...required].sort().join() !== [...found].sort().join()) {
      findings.push(
        `task ${task.id} is ${task.state} and must have [${required.join(", ")}], but has [${found.join(", ")}]`,
      );
    }
  }
  for (const taskId of entriesOf.keys()) findings.push(`there are entries for task ${taskId}, which does not exist`);
  return findings;
};
