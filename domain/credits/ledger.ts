import { err, ok, type Result } from "neverthrow";
import type { AccountId } from "../account-id.js";
import { type Brand, valueOrThrow } from "../brand.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import { isStorable } from "../storable-text.js";
import type { TaskId } from "../task-id.js";
import { type Credits, credits } from "./credits.js";
import type { OrderId, PaidOrder } from "./order.js";
import type { HeldReservation, InsufficientCredits, RefundedReservation, Reservation } from "./reservation.js";
import type { Standing } from "./standing.js";

/**
 * One entry of an account's ledger. Entries are only added, never changed. The balance is the sum of their `credits`:
 * positive for a purchase and a refund, negative for a reservation. An adjustment by the operator is either.
 */
export type LedgerEntry = { readonly accountId: AccountId; readonly credits: number; readonly at: Date } & (
  | { readonly kind: "purchase"; readonly orderId: OrderId }
  | { readonly kind: "reservation" | "refund"; readonly taskId: TaskId }
  | { readonly kind: "adjustment"; readonly reason: AdjustmentReason }
);

/** Why the operator gave or took credits: 1 to 200 characters, which the owner of the account sees. */
export type AdjustmentReason = Brand<string, "AdjustmentReason">;

const REASON_CHARACTERS_MAX = 200;

/** Trims the text. The error names the rule that it breaks. */
export const parseAdjustmentReason = (text: string): Result<AdjustmentReason, InvalidRequest> => {
  const reason = text.trim();
  const actual = [...reason].length;
  if (!isStorable(reason)) return err(invalidRequest("reason", { name: "storable_text" }));
  return actual >= 1 && actual <= REASON_CHARACTERS_MAX
    ? ok(reason as AdjustmentReason)
    : err(invalidRequest("reason", { name: "characters", min: 1, max: REASON_CHARACTERS_MAX, actual }));
};

/** The number of an entry in its ledger. Later entries have greater numbers. */
export type LedgerCursor = Brand<number, "LedgerCursor">;

/** Returns `undefined` for text that cannot be a cursor. */
export const parseLedgerCursor = (text: string): LedgerCursor | undefined =>
  /^[0-9]{1,15}$/.test(text) ? (Number(text) as LedgerCursor) : undefined;

/** Makes one from the number that a store gives an entry: an integer from 0 to 10^15 - 1. Throws for any other. */
export const ledgerCursor = (entry: number): LedgerCursor =>
  valueOrThrow(
    parseLedgerCursor(String(entry)),
    String(entry),
    "a cursor of the ledger: an integer from 0 to 10^15 - 1",
  );

/** Where a page of entries begins: older than `entry`, which had left this balance before it. */
export type EntryPlace = { readonly entry: LedgerCursor; readonly balance: number };

/** Returns `undefined` for text that `entryPlaceText` has not made. */
export const parseEntryPlace = (text: string): EntryPlace | undefined => {
  const [, number = "", balance = ""] = /^([0-9]{1,15})\.([0-9]{1,15})$/.exec(text) ?? [];
  const entry = parseLedgerCursor(number);
  return entry === undefined ? undefined : { entry, balance: Number(balance) };
};

/** The place as text. It has the balance, so that no page has to sum up those before it. */
export const entryPlaceText = ({ entry, balance }: EntryPlace): string => `${entry}.${balance}`;

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

/** Gives credits to an account, or takes them if `change` is negative. Refuses to take more than the balance. */
export const adjust = ({
  accountId,
  balance,
  change,
  reason,
  at,
}: {
  readonly accountId: AccountId;
  readonly balance: Credits;
  readonly change: number;
  readonly reason: AdjustmentReason;
  readonly at: Date;
}): Result<{ readonly entry: LedgerEntry; readonly balance: Credits }, InsufficientCredits> =>
  balance + change >= 0
    ? ok({ entry: { kind: "adjustment", accountId, reason, credits: change, at }, balance: credits(balance + change) })
    : err({ kind: "insufficient_credits", balance, cost: credits(-change) });

/** The entry of the credits with which an account begins that somebody has opened by signing up. */
export const welcomeEntry = (accountId: AccountId, credits: Credits, at: Date): LedgerEntry => ({
  kind: "adjustment",
  accountId,
  reason: "Welcome credits" as AdjustmentReason,
  credits,
  at,
});

/** The balance that the entries give, in credits. */
export const sumOf = (entries: readonly LedgerEntry[]): number =>
  entries.reduce((sum, entry) => sum + entry.credits, 0);

/**
 * What was paid for: anything with a reservation. `state` names its state in a finding. It is active while it holds
 * credits.
 */
export type PaidTask = { readonly id: TaskId; readonly state: string; readonly reservation: Reservation };

/** What a task in this state was paid with. Its credits are held in every state but `failed` and `succeeded`. */
export const paidTask = (id: TaskId, accountId: AccountId, state: string, credits: Credits): PaidTask => {
  const reserved = { taskId: id, accountId, credits };
  if (state === "failed") return { id, state, reservation: { ...reserved, state: "refunded" } };
  return { id, state, reservation: { ...reserved, state: state === "succeeded" ? "captured" : "held" } };
};

/** An account's audit in progress. */
export type LedgerAudit = {
  /** Some tasks of the account, with all of its entries that name them. */
  readonly tasks: (tasks: readonly PaidTask[], entries: readonly LedgerEntry[]) => void;
  /** Some of its entries that name none of its tasks. */
  readonly entries: (entries: readonly LedgerEntry[]) => void;
  /** One sentence for each error. */
  readonly end: () => string[];
};

/**
 * Audits an account part by part, because it may have more tasks than the memory holds. Checks that the balance is the
 * sum of the entries and not negative, that the count of active tasks is right, that no order was credited twice, and
 * that every task has exactly the entries that its state requires.
 */
export const startAudit = ({ credits, activeTasks }: Omit<Standing, "accountId">): LedgerAudit => {
  let sum = 0;
  let active = 0;
  const creditedOrders = new Set<OrderId>();
  const unknownTasks = new Set<TaskId>();
  const ofOrders: string[] = [];
  const ofTasks: string[] = [];
  return {
    tasks: (tasks, entries) => {
      sum += sumOf(entries);
      const entriesOf = entriesByTask(entries);
      for (const task of tasks) {
        if (task.reservation.state === "held") active += 1;
        ofTasks.push(...auditTask(task, entriesOf.get(task.id) ?? []));
      }
    },
    entries: (entries) => {
      sum += sumOf(entries);
      for (const entry of entries) {
        if ("taskId" in entry) unknownTasks.add(entry.taskId);
        if (entry.kind !== "purchase") continue;
        if (creditedOrders.has(entry.orderId)) ofOrders.push(`order ${entry.orderId} was credited more than once`);
        creditedOrders.add(entry.orderId);
      }
    },
    end: () => {
      const totals: string[] = [];
      if (sum !== credits) totals.push(`the balance is ${credits}, but the sum of the entries is ${sum}`);
      if (credits < 0) totals.push(`the balance is negative: ${credits}`);
      if (active !== activeTasks) totals.push(`${activeTasks} active tasks are counted, but there are ${active}`);
      const unknown = [...unknownTasks].map((id) => `there are entries for task ${id}, which does not exist`);
      return [...totals, ...ofOrders, ...ofTasks, ...unknown];
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

const auditTask = ({ id, state, reservation }: PaidTask, entries: readonly LedgerEntry[]): string[] => {
  const { credits: cost } = reservation;
  const required =
    reservation.state === "refunded" ? [`reservation ${-cost}`, `refund ${cost}`] : [`reservation ${-cost}`];
  const found = entries.map(({ kind, credits: amount }) => `${kind} ${amount}`);
  if ([...required].sort().join() === [...found].sort().join()) return [];
  return [`task ${id} is ${state} and must have [${required.join(", ")}], but has [${found.join(", ")}]`];
};

/** Audits an account whose ledger is in memory (`startAudit`). Returns one sentence for each error. */
export const audit = (
  standing: Omit<Standing, "accountId">,
  entries: readonly LedgerEntry[],
  tasks: readonly PaidTask[],
): string[] => {
  const running = startAudit(standing);
  const ids = new Set(tasks.map(({ id }) => id));
  const isOfTask = (entry: LedgerEntry) => "taskId" in entry && ids.has(entry.taskId);
  running.tasks(tasks, entries.filter(isOfTask));
  running.entries(entries.filter((entry) => !isOfTask(entry)));
  return running.end();
};
