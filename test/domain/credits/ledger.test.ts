import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  aFailedTask,
  aPaidOrder,
  aSubmittedTask,
  aSubmittingTask,
  aSucceededTask,
  noon,
  orderId,
  secondsAfter,
  taskId,
} from "../../../adapters/contracts/support/builders.js";
import {
  type AdjustmentReason,
  parseAdjustmentReason,
  parseAdjustmentReference,
} from "../../../domain/credits/adjustment.js";
import { credits } from "../../../domain/credits/credits.js";
import { adjust, book, type Funds } from "../../../domain/credits/funds.js";
import {
  type LedgerEntry,
  paymentReturnEntry,
  purchaseEntry,
  refundEntry,
  reservationEntry,
  sumOf,
  welcomeEntry,
} from "../../../domain/credits/ledger.js";
import { audit, auditedTask, startAudit } from "../../../domain/credits/ledger-audit.js";
import {
  entryPlaceText,
  ledgerCursor,
  parseEntryPlace,
  parseLedgerCursor,
} from "../../../domain/credits/ledger-page.js";
import { isActive, type Task } from "../../../domain/tasks/task.js";

type TaskEntry = Extract<LedgerEntry, { kind: "reservation" | "refund" }>;
type AccountLedger = { credits: number; activeTasks: number; entries: LedgerEntry[]; tasks: Task[] };

const makers = [aSubmittingTask, aSubmittedTask, aSucceededTask, aFailedTask] as const;

const entriesOf = (task: Task): LedgerEntry[] => {
  const reserved = reservationEntry({ ...task.reservation, state: "held" }, task.reservedAt);
  return task.state === "failed" ? [reserved, refundEntry(task.reservation, task.failedAt)] : [reserved];
};

const ledgerOf = (purchases: readonly number[], tasks: Task[]): AccountLedger => {
  const paid = purchases.map((amount, n) => purchaseEntry(aPaidOrder({ id: orderId(n), credits: credits(amount) })));
  const entries = [...paid, ...tasks.flatMap(entriesOf)];
  return { credits: sumOf(entries), activeTasks: tasks.filter(isActive).length, entries, tasks };
};

/** Consistent ledgers after a history of purchases and tasks; every account has bought enough for all its tasks. */
const consistentLedger: fc.Arbitrary<AccountLedger> = fc
  .record({
    purchases: fc.array(fc.integer({ min: 100, max: 1000 }), { minLength: 1, maxLength: 4 }),
    tasks: fc.array(fc.tuple(fc.constantFrom(...makers), fc.constantFrom("1k", "2k", "4k")), {
      minLength: 1,
      maxLength: 8,
    }),
  })
  .map(({ purchases, tasks }) =>
    ledgerOf(
      purchases,
      tasks.map(([make, resolution], n) => make({ id: taskId(n), request: aCreationRequest({ resolution }) })),
    ),
  );

const findings = ({ credits: balance, activeTasks, entries, tasks }: AccountLedger): string[] =>
  audit({ credits: balance as never, activeTasks }, entries, tasks);

/** Each makes the entry of a task wrong in one way: `by` is the size of the error. */
const wrongEntries: Readonly<Record<string, (entry: TaskEntry, by: number) => readonly TaskEntry[]>> = {
  "is lost": () => [],
  "is written twice": (entry) => [entry, entry],
  "has another amount": (entry, by) => [{ ...entry, credits: entry.credits + by }],
  "names another task": (entry) => [{ ...entry, taskId: taskId(1000) }],
  "has another kind": (entry) => [{ ...entry, kind: entry.kind === "refund" ? "reservation" : "refund" }],
  "was refunded once too often": (entry) => [entry, { ...entry, kind: "refund", credits: Math.abs(entry.credits) }],
};

/** Each makes a consistent ledger wrong in one way: `n` selects the task, `by` is the size of the error. */
const wrongLedgers: Readonly<Record<string, (ledger: AccountLedger, n: number, by: number) => AccountLedger>> = {
  "the balance is off": (ledger, _, by) => ({ ...ledger, credits: ledger.credits + by }),
  "an active task is counted too often, or not at all": (ledger, _, by) => ({
    ...ledger,
    activeTasks: ledger.activeTasks + by,
  }),
  "a task is lost": (ledger, n) => ({ ...ledger, tasks: ledger.tasks.toSpliced(n % ledger.tasks.length, 1) }),
  "a task was opened without its reservation": (ledger) => ({
    ...ledger,
    tasks: [...ledger.tasks, aSucceededTask({ id: taskId(1000) })],
  }),
};

describe("the ledger", () => {
  it("adds purchases and refunds, and subtracts reservations", () => {
    const order = aPaidOrder({ credits: credits(100), paidAt: secondsAfter(noon, 5) });
    const { reservation: held } = aSubmittingTask();
    const { reservation: refunded } = aFailedTask();

    const entries = [purchaseEntry(order), reservationEntry(held, noon), refundEntry(refunded, secondsAfter(noon, 9))];

    expect(entries).toEqual([
      { kind: "purchase", accountId: accountId(1), orderId: order.id, credits: 100, at: secondsAfter(noon, 5) },
      { kind: "reservation", accountId: accountId(1), taskId: taskId(1), credits: -4, at: noon },
      { kind: "refund", accountId: accountId(1), taskId: taskId(1), credits: 4, at: secondsAfter(noon, 9) },
    ]);
    expect(sumOf(entries.slice(0, 2))).toBe(96);
    expect(sumOf(entries)).toBe(100);
    expect(sumOf([])).toBe(0);
    const welcome = { kind: "adjustment", accountId: accountId(1), reason: "Welcome credits", credits: 12, at: noon };
    expect(welcomeEntry(accountId(1), credits(12), noon)).toEqual(welcome);
  });
});

describe("the place of an entry in its ledger", () => {
  it.each([0, 17, 999_999_999_999_999])("is %i", (place) => {
    expect([ledgerCursor(place), parseLedgerCursor(String(place))]).toEqual([place, place]);
  });

  it.each(["", "-1", "1.5", "1e3", " 1", "1 ", "x", "9".repeat(16)])("is not %j", (text) => {
    expect(parseLedgerCursor(text)).toBeUndefined();
  });

  it("is written with the balance, and read back", () => {
    for (const place of [
      { entry: ledgerCursor(17), balance: 0 },
      { entry: ledgerCursor(0), balance: 420 },
    ]) {
      expect(entryPlaceText(place)).toBe(`${place.entry}.${place.balance}`);
      expect(parseEntryPlace(entryPlaceText(place))).toEqual(place);
    }
    for (const text of ["", "17", "17.", ".5", "17.-5", "x17.5", "17.5x", "x.5", "17.x", `17.${"9".repeat(16)}`]) {
      expect([text, parseEntryPlace(text)]).toEqual([text, undefined]);
    }
  });

  it("throws for an impossible number", () => {
    for (const place of [-1, 1.5, 1e15, 1e21, Number.NaN]) {
      const message = `"${place}" cannot be a cursor of the ledger: an integer from 0 to 10^15 - 1`;
      expect(() => ledgerCursor(place)).toThrow(new RangeError(message));
    }
  });
});

describe("the audit", () => {
  it.each(makers.map((make) => make()))("reads the reservation of a task from its state, $state", (task) => {
    const { id, state, reservation } = task;
    const audited = auditedTask(id, reservation.accountId, state, reservation.credits);
    expect(audited).toEqual({ id, state, reservation });
  });

  it("finds no error in a consistent ledger, in any order of its entries", () => {
    return fc.assert(
      fc.property(consistentLedger, fc.nat(), (ledger, n) => {
        const cut = n % ledger.entries.length;
        const entries = [...ledger.entries.slice(cut), ...ledger.entries.slice(0, cut)];
        expect(findings({ ...ledger, entries })).toEqual([]);
      }),
    );
  });

  const error = fc.integer({ min: -50, max: 50 }).filter((by) => by !== 0);

  it.each(Object.entries(wrongLedgers))("finds that %s", (_, corrupt) => {
    return fc.assert(
      fc.property(consistentLedger, fc.nat(100), error, (ledger, n, by) => {
        expect(findings(corrupt(ledger, n, by))).not.toEqual([]);
      }),
    );
  });

  it.each(Object.entries(wrongEntries))("finds that an entry %s, also if the balance agrees", (_, corrupt) => {
    return fc.assert(
      fc.property(consistentLedger, fc.nat(100), error, fc.boolean(), (ledger, n, by, agrees) => {
        const ofTasks = ledger.entries.filter((entry): entry is TaskEntry => "taskId" in entry);
        const right = ofTasks[n % ofTasks.length]!;
        const entries = ledger.entries.flatMap((entry): readonly LedgerEntry[] =>
          entry === right ? corrupt(right, by) : [entry],
        );
        const balance = agrees ? sumOf(entries) : ledger.credits;
        expect(findings({ ...ledger, entries, credits: balance })).not.toEqual([]);
      }),
    );
  });

  it("compares each paid order with its entries", () => {
    const order = aPaidOrder({ credits: credits(10) });
    const purchase = purchaseEntry(order);
    const findingsOf = (takenBack: number, entries: readonly LedgerEntry[]) => {
      const running = startAudit({ credits: credits(10 - takenBack), activeTasks: 0 });
      running.addEntries(entries);
      running.addOrders([{ ...order, takenBack: credits(takenBack) }]);
      return running.finish();
    };
    const taken = paymentReturnEntry(order, -4, noon);
    expect(findingsOf(0, [purchase])).toEqual([]);
    expect(findingsOf(4, [purchase, taken])).toEqual([]);
    expect(findingsOf(4, [purchase]).at(-1)).toBe(
      `order ${order.id} has 6 credits left, but the sum of its entries is 10`,
    );
    expect(findingsOf(0, [purchase, taken]).at(-1)).toBe(
      `order ${order.id} has 10 credits left, but the sum of its entries is 6`,
    );
    expect(findingsOf(0, []).at(-1)).toBe(`order ${order.id} has 10 credits left, but the sum of its entries is 0`);
    const all = paymentReturnEntry(order, -10, noon);
    expect(findingsOf(10, [purchase, all])).toEqual([]);
    const more = paymentReturnEntry(order, -11, noon);
    expect(findingsOf(10, [purchase, more])).toContain(`order ${order.id} gave 10 credits, of which -1 are left`);
    const restored = paymentReturnEntry(order, 1, noon);
    expect(findingsOf(0, [purchase, restored])).toContain(`order ${order.id} gave 10 credits, of which 11 are left`);
  });

  it("describes each error in a sentence for the operator", () => {
    const failed = aFailedTask();
    const [reserved] = entriesOf(failed) as [LedgerEntry];
    const purchase = purchaseEntry(aPaidOrder({ credits: credits(1) }));
    const orphan = { ...reserved, taskId: taskId(9) } as LedgerEntry;

    const ledger = { credits: -2, activeTasks: 1, entries: [purchase, purchase, reserved, orphan], tasks: [failed] };

    expect(findings(ledger)).toEqual([
      "the balance is -2, but the sum of the entries is -6",
      "the balance is negative: -2",
      "1 active tasks are counted, but there are 0",
      `order ${orderId(1)} was credited more than once`,
      `task ${taskId(1)} is failed and must have [reservation -4, refund 4], but has [reservation -4]`,
      `there are entries for task ${taskId(9)}, which does not exist`,
    ]);
  });
});

const fundsOf = (balance: number) => ({ credits: credits(balance), debt: credits(0) });

describe("adjust", () => {
  const reason = "goodwill" as AdjustmentReason;

  it("changes the balance by its entry, and never makes it negative", () => {
    return fc.assert(
      fc.property(fc.nat(1000), fc.integer({ min: -1000, max: 1000 }), (balance, change) => {
        const adjusted = adjust({ accountId: accountId(1), funds: fundsOf(balance), change, reason, at: noon });
        if (balance + change < 0) {
          expect(adjusted._unsafeUnwrapErr()).toEqual({ kind: "insufficient_credits", balance, cost: -change });
        } else {
          expect(adjusted._unsafeUnwrap()).toEqual({
            entries: [{ kind: "adjustment", accountId: accountId(1), credits: change, reason, at: noon }],
            funds: fundsOf(balance + change),
          });
        }
      }),
    );
  });

  it("refuses a balance or debt above the maximum and names it", () => {
    const most = 2_147_483_647;
    const give = (funds: Funds, change: number) => adjust({ accountId: accountId(1), funds, change, reason, at: noon });
    expect(give(fundsOf(most - 1), 1)._unsafeUnwrap().funds).toEqual(fundsOf(most));
    expect(() => give(fundsOf(most), 1)).toThrow(
      "2147483647 credits, which cannot change by 1: the most is 2147483647",
    );
    const indebted = { credits: credits(0), debt: credits(most) };
    expect(give(indebted, 1)._unsafeUnwrap().funds).toEqual({ ...indebted, debt: most - 1 });
    expect(give(indebted, most)._unsafeUnwrap().funds).toEqual(fundsOf(0));
    expect(() => book(indebted, paymentReturnEntry(aPaidOrder(), -1, noon))).toThrow(RangeError);
  });
});

describe("book", () => {
  it.each([
    ["adds credits", [5, 0], 3, [8, 0], [["payment_restored", 3]]],
    [
      "pays the debt first",
      [0, 4],
      3,
      [0, 1],
      [
        ["payment_restored", 3],
        ["debt", -3],
      ],
    ],
    [
      "pays the whole debt, and adds the rest",
      [0, 4],
      6,
      [2, 0],
      [
        ["payment_restored", 6],
        ["debt", -4],
      ],
    ],
    ["takes credits", [5, 0], -5, [0, 0], [["payment_refund", -5]]],
    [
      "turns what the balance does not cover into debt first",
      [5, 0],
      -8,
      [0, 3],
      [
        ["debt", 3],
        ["payment_refund", -8],
      ],
    ],
  ] as const)("%s: %j by %i is %j", (_, [balance, debt], change, [balanceAfter, debtAfter], entries) => {
    const booked = book(
      { credits: credits(balance), debt: credits(debt) },
      paymentReturnEntry(aPaidOrder(), change, noon),
    );
    expect(booked.funds).toEqual({ credits: balanceAfter, debt: debtAfter });
    expect(booked.entries.map((entry) => [entry.kind, entry.credits])).toEqual(entries);
    const before = [purchaseEntry(aPaidOrder({ credits: credits(balance) }))];
    const owed = [{ kind: "debt", accountId: accountId(1), credits: debt, at: noon }] as const;
    const spent = [{ ...owed[0], kind: "adjustment", credits: -debt, reason: "spent" as AdjustmentReason }] as const;
    const written = [...before, ...owed, ...spent, ...booked.entries];
    const found = audit({ ...booked.funds, activeTasks: 0 }, written, []);
    expect(found.filter((text) => !text.startsWith("order "))).toEqual([]);
    expect(audit({ ...booked.funds, debt: credits(99), activeTasks: 0 }, written, [])).toContain(
      `the debt is 99, but the sum of its entries is ${debtAfter}`,
    );
  });
});

describe("parseAdjustmentReason", () => {
  it("takes 1 to 200 characters without the white space around them", () => {
    expect(parseAdjustmentReason(" For the outage ")._unsafeUnwrap()).toBe("For the outage");
    for (const length of [1, 200]) expect(parseAdjustmentReason("é".repeat(length)).isOk()).toBe(true);
    for (const [text, rule] of [
      [" ", { name: "characters", min: 1, max: 200, actual: 0 }],
      ["x".repeat(201), { name: "characters", min: 1, max: 200, actual: 201 }],
      ["a\u0000", { name: "storable_text" }],
    ] as const) {
      expect(parseAdjustmentReason(text)._unsafeUnwrapErr()).toEqual({
        kind: "invalid_request",
        field: "reason",
        rule,
      });
    }
  });
});

describe("parseAdjustmentReference", () => {
  it("takes up to 100 characters without the white space around them", () => {
    expect(parseAdjustmentReference(` ${"x".repeat(100)} `)._unsafeUnwrap()).toBe("x".repeat(100));
    const rule = { name: "characters", min: 1, max: 100, actual: 101 };
    const refusal = { kind: "invalid_request", field: "reference", rule };
    expect(parseAdjustmentReference("x".repeat(101))._unsafeUnwrapErr()).toEqual(refusal);
  });
});
