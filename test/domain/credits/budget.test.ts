import fc from "fast-check";
import { err, ok } from "neverthrow";
import { describe, expect, it } from "vitest";
import { noon } from "../../../adapters/contracts/support/builders.js";
import {
  admitSpending,
  type Budgets,
  dayOf,
  hasBudget,
  monthOf,
  windowEnd,
  windowStart,
} from "../../../domain/credits/budget.js";
import { credits } from "../../../domain/credits/credits.js";

const time = fc.date({
  min: new Date("2026-01-28T00:00:00Z"),
  max: new Date("2026-03-04T00:00:00Z"),
  noInvalidDate: true,
});
const budget = fc.option(fc.integer({ min: 1, max: 40 }).map(credits), { nil: undefined });
const budgets: fc.Arbitrary<Budgets> = fc.record({ creditsPerDay: budget, creditsPerMonth: budget });
const cost = fc.constantFrom(4, 6, 10).map(credits);

/** The calendar in words, without arithmetic: `2026-01-28` and `2026-01`. */
const dayInUtc = (at: Date) => at.toISOString().slice(0, 10);
const monthInUtc = (at: Date) => at.toISOString().slice(0, 7);

describe("dayOf and monthOf", () => {
  it("name the calendar day and month in UTC", () => {
    fc.assert(
      fc.property(time, time, (one, other) => {
        expect(String(dayOf(one))).toBe(dayInUtc(one).replaceAll("-", ""));
        const { first, last } = monthOf(one);
        const isWithin = first <= dayOf(other) && dayOf(other) <= last;
        expect(isWithin).toBe(monthInUtc(one) === monthInUtc(other));
      }),
    );
  });

  it("begin at 00:00 UTC", () => {
    expect(dayOf(new Date("2026-01-31T23:59:59.999Z"))).toBe(20260131);
    expect(dayOf(new Date("2026-02-01T00:00:00.000Z"))).toBe(20260201);
    expect(monthOf(new Date("2026-12-31T23:59:59.999Z"))).toEqual({ first: 20261201, last: 20261231 });
  });
});

describe("windowStart and windowEnd", () => {
  it("return the start of the UTC day or month, and of the next one", () => {
    fc.assert(
      fc.property(time, (at) => {
        expect(windowStart("day", at).toISOString()).toBe(`${dayInUtc(at)}T00:00:00.000Z`);
        expect(windowStart("month", at).toISOString()).toBe(`${monthInUtc(at)}-01T00:00:00.000Z`);
        for (const window of ["day", "month"] as const) {
          const end = windowEnd(window, at);
          expect(windowStart(window, end)).toEqual(end);
          expect(windowStart(window, new Date(end.getTime() - 1))).toEqual(windowStart(window, at));
        }
      }),
    );
  });
});

describe("admitSpending", () => {
  it("admits a task exactly if no window exceeds its budget, for random histories", () => {
    const task = fc.record({ at: time, cost, isRefunded: fc.boolean() });
    fc.assert(
      fc.property(budgets, fc.array(task, { maxLength: 12 }), time, cost, (limits, tasks, now, price) => {
        const spentIn = (windowOf: (at: Date) => string) =>
          tasks
            .filter(({ at, isRefunded }) => !isRefunded && windowOf(at) === windowOf(now))
            .reduce((sum, { cost }) => sum + cost, 0);
        const spending = { today: spentIn(dayInUtc), thisMonth: spentIn(monthInUtc) };
        const isWithin =
          spending.today + price <= (limits.creditsPerDay ?? Number.POSITIVE_INFINITY) &&
          spending.thisMonth + price <= (limits.creditsPerMonth ?? Number.POSITIVE_INFINITY);
        expect(admitSpending(limits, spending, price, now).isOk()).toBe(isWithin);
      }),
    );
  });

  it("returns the exceeded budget, its rest, and the start of the next window", () => {
    fc.assert(
      fc.property(budgets, fc.nat(60), fc.nat(60), cost, time, (limits, today, earlier, price, now) => {
        const spending = { today, thisMonth: today + earlier };
        const refused = admitSpending(limits, spending, price, now);
        if (refused.isOk()) return;
        const { window, budget, left, renewsAt } = refused.error;
        const windowOf = window === "day" ? dayInUtc : monthInUtc;
        expect(budget).toBe(window === "day" ? limits.creditsPerDay : limits.creditsPerMonth);
        expect(left).toBe(Math.max(0, budget - (window === "day" ? today : today + earlier)));
        expect(left).toBeLessThan(price);
        expect(windowOf(new Date(renewsAt.getTime() - 1))).toBe(windowOf(now));
        expect(windowOf(renewsAt)).not.toBe(windowOf(now));
        // An error that names the day means that the month has room for the task.
        const { creditsPerMonth } = limits;
        if (window === "day" && creditsPerMonth !== undefined) {
          expect(spending.thisMonth + price).toBeLessThanOrEqual(creditsPerMonth);
        }
      }),
    );
  });

  it("spends a budget to its last credit", () => {
    const perDay = { creditsPerDay: credits(10), creditsPerMonth: undefined };
    expect(admitSpending(perDay, { today: 6, thisMonth: 500 }, credits(4), noon)).toEqual(ok(undefined));
    expect(admitSpending(perDay, { today: 7, thisMonth: 500 }, credits(4), noon)).toEqual(
      err({
        kind: "budget_spent",
        window: "day",
        budget: 10,
        left: 3,
        cost: 4,
        renewsAt: new Date("2026-01-02T00:00:00Z"),
      }),
    );
  });

  it("names the month if both budgets are spent, because a new day would not help", () => {
    const both = { creditsPerDay: credits(4), creditsPerMonth: credits(8) };
    expect(admitSpending(both, { today: 4, thisMonth: 8 }, credits(4), noon)._unsafeUnwrapErr()).toMatchObject({
      window: "month",
      left: 0,
      renewsAt: new Date("2026-02-01T00:00:00Z"),
    });
  });
});

describe("hasBudget", () => {
  it("returns true for a daily or a monthly budget", () => {
    expect(hasBudget({ creditsPerDay: undefined, creditsPerMonth: undefined })).toBe(false);
    expect(hasBudget({ creditsPerDay: credits(1), creditsPerMonth: undefined })).toBe(true);
    expect(hasBudget({ creditsPerDay: undefined, creditsPerMonth: credits(1) })).toBe(true);
  });
});
