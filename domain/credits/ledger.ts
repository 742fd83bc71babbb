import { err, ok, type Result } from "neverthrow";
import { type AccountId, type Brand, type TaskId, valueOrThrow } from "../ids.js";
import { type InvalidRequest, invalidRequest } from "../invalid-request.js";
import { isStorable } from "../text.js";
import { type Credits, credits } from "./credits.js";
import type { OrderId, PaidOrder } from "./order.js";
import type { HeldReservation, InsufficientCredits, RefundedReservation, Reservation } from "./reservation.js";
import type { Standing } from "./standing.js";

/**
 * One entry of an account's ledger. Entries are only added, never changed. The balance is the sum of their `credits`:
 * positive for a purchase and a refund, negative for a reservation. An adjustment by the operator is either.
 *
 * `payment_refund`: a payment was refunded or disputed, so its credits are removed. `payment_restored`: the refund
 * failed or the dispute was won, so they are added again. `debt`: positive when debt is added, negative when it is paid
 * (`book`).
 */
export type LedgerEntry = { readonly accountId: AccountId; readonly credits: number; readonly at: Date } & (
  | { readonly kind: "purchase" | "payment_refund" | "payment_restored"; readonly orderId: OrderId }
  | { readonly kind: "reservation" | "refund"; readonly taskId: TaskId }
  | {
      readonly kind: "adjustment";
      readonly reason: AdjustmentReason;
      /** The operator's reference. A second adjustment with it is not written. */
      readonly reference?: AdjustmentReference | undefined;
    }
  | { readonly kind: "debt" }
);

/** The operator's reason of an adjustment: 1 to 200 characters, shown to the owner of the account. */
export type AdjustmentReason = Brand<string, "AdjustmentReason">;

const REASON_CHARACTERS_MAX = 200;

/** Trims the text. The error names the broken rule. */
export const parseAdjustmentReason = (text: string): Result<AdjustmentReason, InvalidRequest> =>
  parseNote("reason", text, REASON_CHARACTERS_MAX).map((reason) => reason as AdjustmentReason);

const parseNote = (field: string, text: string, max: number): Result<string, InvalidRequest> => {
  const note = text.trim();
  const actual = [...note].length;
  if (!isStorable(note)) return err(invalidRequest(field, { name: "storable_text" }));
  return actual >= 1 && actual <= max
    ? ok(note)
    : err(invalidRequest(field, { name: "characters", min: 1, max, actual }));
};

/** The operator's reference of an adjustment, unique in its account: 1 to 100 characters. */
export type AdjustmentReference = Brand<string, "AdjustmentReference">;

const REFERENCE_CHARACTERS_MAX = 100;

/** Trims the text. The error names the broken rule. */
export const parseAdjustmentReference = (text: string): Result<AdjustmentReference, InvalidRequest> =>
  parseNote("reference", text, REFERENCE_CHARACTERS_MAX).map((reference) => reference as AdjustmentReference);

/** The number of an entry in its ledger. Later entries have greater numbers. */
export type LedgerCursor = Brand<number, "LedgerCursor">;

/** Parses a cursor; `undefined` if the text has another form. */
export const parseLedgerCursor = (text: string): LedgerCursor | undefined =>
  /^[0-9]{1,15}$/.test(text) ? (Number(text) as LedgerCursor) : undefined;

/** Creates a cursor from an entry number of a store: an integer from 0 to 10^15 - 1. Throws otherwise. */
export const ledgerCursor = (entry: number): LedgerCursor =>
  valueOrThrow(
    parseLedgerCursor(String(entry)),
    String(entry),
    "a cursor of the ledger: an integer from 0 to 10^15 - 1",
  );

/** Start of a page: the newest entry that is older than `entry`. `balance`: the balance after that older entry. */
export type EntryPlace = { readonly entry: LedgerCursor; readonly balance: number };

/** Parses the text of `entryPlaceText`; `undefined` if the text has another form. */
export const parseEntryPlace = (text: string): EntryPlace | undefined => {
  const [, number = "", balance = ""] = /^([0-9]{1,15})\.([0-9]{1,15})$/.exec(text) ?? [];
  const entry = parseLedgerCursor(number);
  return entry === undefined ? undefined : { entry, balance: Number(balance) };
};

/** The text `<entry>.<balance>`. The balance saves each page the sum over newer entries. */
export const entryPlaceText = ({ entry, balance }: EntryPlace): string => `${entry}.${balance}`;

/** The entry of a paid order. */
export const purchaseEntry = (order: PaidOrder): LedgerEntry => ({
  kind: "purchase",
  accountId: order.accountId,
  orderId: order.id,
  credits: order.credits,
  at: order.paidAt,
});

/** The entry of a refund or dispute: `change` < 0 removes credits, > 0 adds them again. */
export const returnEntry = (order: Pick<PaidOrder, "id" | "accountId">, change: number, at: Date): LedgerEntry => ({
  kind: change < 0 ? "payment_refund" : "payment_restored",
  accountId: order.accountId,
  orderId: order.id,
  credits: change,
  at,
});

/** The entry of the credits held for a task. */
export const reservationEntry = ({ accountId, taskId, credits }: HeldReservation, at: Date): LedgerEntry => ({
  kind: "reservation",
  accountId,
  taskId,
  credits: -credits,
  at,
});

/** The entry of the credits that a failed task returns. */
export const refundEntry = ({ accountId, taskId, credits }: RefundedReservation, at: Date): LedgerEntry => ({
  kind: "refund",
  accountId,
  taskId,
  credits,
  at,
});

/** Balance and debt of an account. Debt arises when a payment is refunded after its credits were spent. */
export type Funds = { readonly credits: Credits; readonly debt: Credits };

/** Result of a booking: the new funds, and the entries to write in one transaction. */
export type Booked = { readonly funds: Funds; readonly entries: readonly LedgerEntry[] };

/** Stores have columns of 32 bits. */
const FUNDS_MAX = 2_147_483_647;

/**
 * Books an entry. A missing amount becomes debt; added credits pay debt first. A change of debt gets its own `debt`
 * entry: the balance is the sum of all entries, the debt the sum of the `debt` entries. New debt is written first, so
 * the balance never goes below 0. Throws a `RangeError` above 2^31 - 1.
 */
export const book = (funds: Funds, entry: LedgerEntry): Booked => {
  const sum = funds.credits + entry.credits;
  const change = sum < 0 ? -sum : -Math.min(sum, funds.debt);
  const { accountId, at } = entry;
  if (Math.max(sum + change, funds.debt + change) > FUNDS_MAX) {
    throw new RangeError(
      `Account ${accountId} has ${funds.credits} credits, which cannot change by ${entry.credits}: the most is ${FUNDS_MAX}, also of a debt.`,
    );
  }
  const debt: LedgerEntry = { kind: "debt", accountId, credits: change, at };
  return {
    funds: { credits: credits(sum + change), debt: credits(funds.debt + change) },
    entries: change === 0 ? [entry] : change > 0 ? [debt, entry] : [entry, debt],
  };
};

/**
 * Adds `change`, which may be negative, to the balance. Refuses to take more than the balance. Added credits pay debt
 * first.
 */
export const adjust = ({
  accountId,
  funds,
  change,
  reason,
  reference,
  at,
}: {
  readonly accountId: AccountId;
  readonly funds: Funds;
  readonly change: number;
  readonly reason: AdjustmentReason;
  readonly reference?: AdjustmentReference | undefined;
  readonly at: Date;
}): Result<Booked, InsufficientCredits> =>
  funds.credits + change >= 0
    ? ok(book(funds, { kind: "adjustment", accountId, reason, reference, credits: change, at }))
    : err({ kind: "insufficient_credits", balance: funds.credits, cost: credits(-change) });

/** The entry of the welcome credits of an account that signed up. */
export const welcomeEntry = (accountId: AccountId, credits: Credits, at: Date): LedgerEntry => ({
  kind: "adjustment",
  accountId,
  reason: "Welcome credits" as AdjustmentReason,
  credits,
  at,
});

/** The sum of the entries, in credits. */
export const sumOf = (entries: readonly LedgerEntry[]): number =>
  entries.reduce((sum, entry) => sum + entry.credits, 0);

/**
 * A task as the audit sees it: anything with a reservation. `state` is shown in findings. Active while its credits are
 * held.
 */
export type PaidTask = { readonly id: TaskId; readonly state: string; readonly reservation: Reservation };

/** The task as the audit sees it. Its credits are held in every state but `failed` and `succeeded`. */
export const paidTask = (id: TaskId, accountId: AccountId, state: string, credits: Credits): PaidTask => {
  const reserved = { taskId: id, accountId, credits };
  if (state === "failed") return { id, state, reservation: { ...reserved, state: "refunded" } };
  return { id, state, reservation: { ...reserved, state: state === "succeeded" ? "captured" : "held" } };
};

/** An account's audit in progress. */
export type LedgerAudit = {
  /** Adds some tasks of the account, with all entries of these tasks. */
  readonly tasks: (tasks: readonly PaidTask[], entries: readonly LedgerEntry[]) => void;
  /** Adds some entries that belong to no task of the account. */
  readonly entries: (entries: readonly LedgerEntry[]) => void;
  /** Adds some paid orders of the account, each of them once. */
  readonly orders: (paid: readonly BoughtCredits[]) => void;
  /** Ends the audit. Returns one sentence per error. */
  readonly end: () => string[];
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
 * - each order: credited once, never taken back beyond its credits
 * - each task: exactly the entries of its state
 */
export const startAudit = ({ credits, activeTasks, debt = 0 as Credits }: Omit<Standing, "accountId">): LedgerAudit => {
  let sum = 0;
  let owed = 0;
  let active = 0;
  const orders = new Map<OrderId, { purchases: number; bought: number; left: number }>();
  /** The remaining credits of each paid order. */
  const expected = new Map<OrderId, number>();
  const unknownTasks = new Set<TaskId>();
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
        if (entry.kind === "debt") owed += entry.credits;
        if (!("orderId" in entry)) continue;
        const order = orders.get(entry.orderId) ?? { purchases: 0, bought: 0, left: 0 };
        orders.set(entry.orderId, order);
        order.left += entry.credits;
        if (entry.kind !== "purchase") continue;
        order.purchases += 1;
        order.bought += entry.credits;
      }
    },
    orders: (paid) => {
      for (const { id, credits, takenBack = 0 } of paid) expected.set(id, credits - takenBack);
    },
    end: () => {
      const totals: string[] = [];
      if (sum !== credits) totals.push(`the balance is ${credits}, but the sum of the entries is ${sum}`);
      if (credits < 0) totals.push(`the balance is negative: ${credits}`);
      if (owed !== debt) totals.push(`the debt is ${debt}, but the sum of its entries is ${owed}`);
      if (active !== activeTasks) totals.push(`${activeTasks} active tasks are counted, but there are ${active}`);
      const unknown = [...unknownTasks].map((id) => `there are entries for task ${id}, which does not exist`);
      const ofOrders = [...orders].flatMap(([id, { purchases, bought, left }]) => [
        ...(purchases > 1 ? [`order ${id} was credited more than once`] : []),
        ...(left < 0 || left > bought ? [`order ${id} gave ${bought} credits, of which ${left} are left`] : []),
      ]);
      const ofPaid = [...expected].flatMap(([id, left]) => {
        const booked = orders.get(id)?.left ?? 0;
        return booked === left ? [] : [`order ${id} has ${left} credits left, but the sum of its entries is ${booked}`];
      });
      return [...totals, ...ofOrders, ...ofPaid, ...ofTasks, ...unknown];
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

/** Audits an account whose ledger is in memory (`startAudit`). Returns one sentence per error. */
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
