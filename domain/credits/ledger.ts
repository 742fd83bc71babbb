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
 * `payment_refund` takes credits back because their payment came back, `payment_restored` gives them back because it
 * did not after all. `debt` is positive where credits could not be taken, negative where the debt is paid (`book`).
 */
export type LedgerEntry = { readonly accountId: AccountId; readonly credits: number; readonly at: Date } & (
  | { readonly kind: "purchase" | "payment_refund" | "payment_restored"; readonly orderId: OrderId }
  | { readonly kind: "reservation" | "refund"; readonly taskId: TaskId }
  | {
      readonly kind: "adjustment";
      readonly reason: AdjustmentReason;
      /** The operator's own name of it, so that it is written once. */
      readonly reference?: AdjustmentReference | undefined;
    }
  | { readonly kind: "debt" }
);

/** Why the operator gave or took credits: 1 to 200 characters, which the owner of the account sees. */
export type AdjustmentReason = Brand<string, "AdjustmentReason">;

const REASON_CHARACTERS_MAX = 200;

/** Trims the text. The error names the rule that it breaks. */
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

/** What the operator calls an adjustment, unique in its account: 1 to 100 characters. */
export type AdjustmentReference = Brand<string, "AdjustmentReference">;

const REFERENCE_CHARACTERS_MAX = 100;

/** Trims the text. The error names the rule that it breaks. */
export const parseAdjustmentReference = (text: string): Result<AdjustmentReference, InvalidRequest> =>
  parseNote("reference", text, REFERENCE_CHARACTERS_MAX).map((reference) => reference as AdjustmentReference);

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

/** Where a page of entries begins: with the entry before `entry`. `balance`: the balance after that one. */
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

/** The entry that takes back credits of an order; gives them back if `change` is positive. */
export const returnEntry = (order: Pick<PaidOrder, "id" | "accountId">, change: number, at: Date): LedgerEntry => ({
  kind: change < 0 ? "payment_refund" : "payment_restored",
  accountId: order.accountId,
  orderId: order.id,
  credits: change,
  at,
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

/** What an account has, and what it owes because credits that came back with their payment were already spent. */
export type Funds = { readonly credits: Credits; readonly debt: Credits };

/** What an account has after `entries`, which are written together. */
export type Booked = { readonly funds: Funds; readonly entries: readonly LedgerEntry[] };

/** Stores have columns of 32 bits. */
const FUNDS_MAX = 2_147_483_647;

/**
 * Books an entry. The balance is never negative: what is missing becomes debt. Credits that arrive pay a debt first,
 * wherever they come from. A second entry, `debt`, says by how much the debt has changed, so that the balance stays the
 * sum of all entries, and the debt the sum of those of its kind. It comes first where a debt is made, so that the
 * balance is not negative between the two either. Throws a `RangeError` if no store could keep it.
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
 * Gives credits to an account, or takes them if `change` is negative. Refuses to take more than the balance. Credits
 * that are given pay a debt first.
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
  /** Some of its paid orders, each of them once. */
  readonly orders: (paid: readonly BoughtCredits[]) => void;
  /** One sentence for each error. */
  readonly end: () => string[];
};

/** What a paid order has given: `credits`, of which `takenBack` were taken back (payment-return.ts). */
export type BoughtCredits = {
  readonly id: OrderId;
  readonly credits: Credits;
  readonly takenBack?: Credits | undefined;
};

/**
 * Audits an account part by part, because it may have more tasks than the memory holds. Checks that the balance is the
 * sum of the entries and not negative, and the debt the sum of its own, that the count of active tasks is right, that
 * no order was credited twice or gave back what it had not given, and that every task has exactly the entries that its
 * state requires.
 */
export const startAudit = ({ credits, activeTasks, debt = 0 as Credits }: Omit<Standing, "accountId">): LedgerAudit => {
  let sum = 0;
  let owed = 0;
  let active = 0;
  const orders = new Map<OrderId, { purchases: number; bought: number; left: number }>();
  /** What each paid order has left of its credits. */
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
