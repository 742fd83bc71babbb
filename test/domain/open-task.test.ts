import * as fc from "fast-check";
import { err } from "neverthrow";
import { describe, expect, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  apiKeyId,
  aQueuedTask,
  noon,
  openATask,
  taskId,
} from "../../adapters/contracts/support/builders.js";
import { dayOf } from "../../domain/credits/budget.js";
import { credits } from "../../domain/credits/credits.js";
import { RESOLUTIONS, type Resolution } from "../../domain/images/resolution.js";
import { PANORAMA_POLICY, panoramaPolicy } from "../../domain/panorama-policy.js";
import { failuresMax } from "../../domain/tasks/failure-budget.js";
import type { Slug } from "../../domain/tasks/slug.js";
import { fail, type Task } from "../../domain/tasks/task.js";

describe("openTask", () => {
  const draft = (resolution: Resolution = "1k") => ({
    id: taskId(1),
    slug: "slug000000000001" as Slug,
    request: aCreationRequest({ resolution }),
  });
  const standing = (balance: number, activeTasks: number) => ({
    accountId: accountId(1),
    credits: credits(balance),
    activeTasks,
  });

  it("holds the price and counts one more active task", () => {
    expect(openATask(standing(100, 2), draft("4k"), noon)._unsafeUnwrap()).toEqual({
      task: {
        ...draft("4k"),
        accountId: accountId(1),
        reservedAt: noon,
        state: "submitting",
        turn: undefined,
        submissions: 0,
        reservation: { taskId: taskId(1), accountId: accountId(1), credits: 10, state: "held" },
      },
      standing: standing(90, 3),
    });
  });

  it("tells that the balance fell below the account's threshold", () => {
    const account = { ...standing(13, 0), lowBalanceThreshold: credits(10) };
    const opened = openATask(account, draft(), noon)._unsafeUnwrap();
    expect(opened.lowBalance).toEqual({ balance: 9, threshold: 10 });
    expect(openATask(standing(13, 0), draft(), noon)._unsafeUnwrap()).not.toHaveProperty("lowBalance");
  });

  it("queues a task that is given a turn, at the same price", () => {
    const { task, standing: after } = openATask(standing(100, 2), draft("4k"), noon, { turn: 3 })._unsafeUnwrap();
    expect(task).toStrictEqual(aQueuedTask({ ...draft("4k"), turn: 3 }));
    expect(after).toEqual(standing(90, 3));
  });

  it("checks the credits, then the budget of the key, then the active tasks", () => {
    const budget = {
      budgets: { creditsPerDay: undefined, creditsPerMonth: credits(7) },
      spending: { today: 4, thisMonth: 4 },
    };
    const kind = (balance: number, active: number, spent = budget) =>
      openATask(standing(balance, active), draft(), noon, { budget: spent }).match(
        ({ task }) => task.state,
        (refusal) => refusal.kind,
      );
    const poor = err({ kind: "insufficient_credits", balance: 3, cost: 4 });
    expect(openATask(standing(3, 5), draft(), noon, { budget })).toEqual(poor);
    expect(kind(4, 5)).toBe("budget_spent");
    const left = { ...budget, spending: { today: 3, thisMonth: 3 } };
    expect(kind(4, 5, left)).toBe("too_many_active_tasks");
    expect(kind(4, 4, left)).toBe("submitting");
  });

  it("checks today's failures after the credits and before the active tasks", () => {
    const failures = { day: dayOf(noon), ...failuresMax(PANORAMA_POLICY.rates.write) };
    const kind = (balance: number, active: number, at = noon) =>
      openATask({ ...standing(balance, active), failures }, draft(), at).match(
        ({ task }) => task.state,
        (refusal) => refusal.kind,
      );
    expect(kind(3, 5)).toBe("insufficient_credits");
    expect(kind(4, 5)).toBe("too_many_failures");
    expect(kind(4, 4, new Date(noon.getTime() + 24 * 60 * 60 * 1000))).toBe("submitting");
  });

  it("applies the limit of failures that follows from the policy's writes", () => {
    const policy = { ...PANORAMA_POLICY, rates: panoramaPolicy({ writesPerMinute: 600 }).rates };
    const account = { ...standing(4, 0), failures: { day: dayOf(noon), ...failuresMax(PANORAMA_POLICY.rates.write) } };
    expect(openATask(account, draft(), noon, { policy }).isOk()).toBe(true);
  });

  it("records the key that creates the task, also when it fails", () => {
    const { task } = openATask(standing(4, 0), { ...draft(), apiKeyId: apiKeyId(7) }, noon)._unsafeUnwrap();
    expect(task.apiKeyId).toBe(apiKeyId(7));
    expect(fail(task, "refused", noon).apiKeyId).toBe(apiKeyId(7));
  });

  it("refuses a suspended account, and on the operator's wish one with an open dispute", () => {
    const refusalOf = (more: object, suspendOnDispute: boolean) =>
      openATask({ ...standing(4, 0), ...more }, draft(), noon, { policy: panoramaPolicy({ suspendOnDispute }) }).match(
        ({ task }) => task.state,
        (refusal) => refusal,
      );
    const suspended = { kind: "account_suspended", reason: "spam" };
    expect(refusalOf({ suspensionReason: "spam", openDisputes: 1 }, true)).toEqual(suspended);
    const disputed = { kind: "insufficient_credits", balance: 4, cost: 4, hasOpenDispute: true };
    expect(refusalOf({ openDisputes: 1 }, true)).toEqual(disputed);
    for (const openDisputes of [undefined, 0]) expect(refusalOf({ openDisputes }, true)).toBe("submitting");
    expect(refusalOf({ openDisputes: 1 }, false)).toBe("submitting");
  });

  it("keeps the balance exact and never negative while tasks open and end in random order", () => {
    const step = fc.oneof(
      fc.constantFrom(...(Object.keys(RESOLUTIONS) as Resolution[])).map((resolution) => ({ open: resolution })),
      fc.record({ end: fc.nat(), succeeds: fc.boolean() }),
    );
    return fc.assert(
      fc.property(fc.nat(100), fc.array(step, { maxLength: 60 }), (purchased, steps) => {
        let account = standing(purchased, 0);
        let spent = 0;
        const active: Task[] = [];
        for (const event of steps) {
          if ("open" in event) {
            const opened = openATask(account, draft(event.open), noon);
            const price = PANORAMA_POLICY.prices[event.open];
            expect(opened.isOk()).toBe(account.credits >= price && active.length < 5);
            if (opened.isErr()) continue;
            account = opened.value.standing;
            active.push(opened.value.task);
          } else if (active.length > 0) {
            const [task] = active.splice(event.end % active.length, 1) as [Task];
            if (event.succeeds) spent += task.reservation.credits;
            const refunded = event.succeeds ? 0 : task.reservation.credits;
            account = standing(account.credits + refunded, account.activeTasks - 1);
          }
          const held = active.reduce((sum, task) => sum + task.reservation.credits, 0);
          expect(account.credits).toBe(purchased - spent - held);
          expect(account.credits).toBeGreaterThanOrEqual(0);
          expect(account.activeTasks).toBe(active.length);
        }
      }),
    );
  });
});
