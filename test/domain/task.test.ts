import * as fc from "fast-check";
import { err } from "neverthrow";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  aCreationRequest,
  accountId,
  aFailedTask,
  aGeneratedTask,
  aNativeSize,
  anImageName,
  apiKeyId,
  aQueuedTask,
  aReservedTask,
  aSubmittedTask,
  aSucceededTask,
  noon,
  secondsAfter,
  taskId,
} from "../../adapters/contracts/builders.js";
import { dayOf } from "../../domain/budget.js";
import { credits } from "../../domain/credits.js";
import { failuresMax } from "../../domain/failure-budget.js";
import { PANORAMA_POLICY, panoramaPolicy } from "../../domain/panorama-policy.js";
import { RESOLUTIONS, type Resolution } from "../../domain/resolution.js";
import type { Slug } from "../../domain/slug.js";
import {
  expire,
  giveUp,
  keep,
  keepWithoutThumbnail,
  type StoredImage,
  uploading,
} from "../../domain/storage-status.js";
import {
  type FailureReason,
  fail,
  finish,
  isActive,
  isCancelable,
  isInGallery,
  isInProgress,
  isRefusedCreation,
  openTask,
  requeue,
  start,
  statusOf,
  submit,
  succeed,
  type Task,
} from "../../domain/task.js";

const later = secondsAfter(noon, 90);
const image = uploading("https://provider.example.com/temporary/1.jpg", anImageName());

const states = {
  queued: aQueuedTask(),
  reserved: aReservedTask(),
  submitted: aSubmittedTask(),
  generated: aGeneratedTask(),
  succeeded: aSucceededTask(),
  failed: aFailedTask(),
} as const satisfies Record<Task["state"], Task>;

const events = { start, requeue, submit, finish, succeed, fail } as const;
type Event = keyof typeof events;

/** The events that each state allows, as in the drawing in task.ts: a forbidden one does not compile. */
const legalEvents = (task: Task): Partial<Record<Event, () => Task>> => {
  switch (task.state) {
    case "queued":
      return { start: () => start(task, "only"), fail: () => fail(task, "deadline_passed", later) };
    case "reserved":
      return {
        requeue: () => requeue(task, 2),
        submit: () => submit(task, "upstream-2", later),
        fail: () => fail(task, "deadline_passed", later),
      };
    case "submitted":
      return { finish: () => finish(task, image.temporaryUrl), fail: () => fail(task, "deadline_passed", later) };
    case "generated":
      return {
        succeed: () => succeed(task, image.imageName, aNativeSize, later),
        fail: () => fail(task, "generation_failed", later),
      };
    case "succeeded":
    case "failed":
      return {};
  }
};

describe("a task", () => {
  it("records when the provider accepted it, and under which id", () => {
    const task = aReservedTask();
    const { turn: _, submissions: __, ...core } = task;
    expect(submit(task, "upstream-2", later)).toStrictEqual({
      ...core,
      state: "submitted",
      submittedAt: later,
      upstreamTaskId: "upstream-2",
    });
  });

  it("keeps its turn when it starts", () => {
    const started = { ...aQueuedTask({ turn: 7 }), state: "reserved", place: "only" };
    expect(start(aQueuedTask({ turn: 7 }), "only")).toStrictEqual(started);
  });

  it("is the same task with another submission after it has returned to the queue", () => {
    const sent = start(aQueuedTask({ turn: 7 }), "only");
    expect(requeue(sent, 7)).toStrictEqual({ ...aQueuedTask({ turn: 7 }), submissions: 1 });
    expect(start(requeue(sent, 7), "only")).toStrictEqual({ ...sent, submissions: 1 });
    expect(requeue(aReservedTask(), 3)).toStrictEqual(aQueuedTask({ turn: 3, submissions: 1 }));
  });

  it("counts as a refused creation only when it fails before its creation request is answered", () => {
    const failed = aFailedTask({ reason: "refused" });
    expect(isRefusedCreation(aReservedTask(), failed)).toBe(true);
    expect(isRefusedCreation(aReservedTask({ turn: 7 }), failed)).toBe(false);
    expect(isRefusedCreation(aQueuedTask(), failed)).toBe(false);
    expect(isRefusedCreation(aSubmittedTask(), failed)).toBe(false);
    expect(isRefusedCreation(aReservedTask(), aSubmittedTask())).toBe(false);
  });

  it("keeps its credits held while its result is not checked", () => {
    const task = aSubmittedTask();
    const { temporaryUrl } = image;
    expect(finish(task, temporaryUrl)).toStrictEqual({ ...task, state: "generated", temporaryUrl });
  });

  it("captures its credits when it succeeds, and has an image to keep", () => {
    const { temporaryUrl: _, ...task } = aGeneratedTask();
    expect(succeed(aGeneratedTask(), image.imageName, aNativeSize, later)).toStrictEqual({
      ...task,
      state: "succeeded",
      reservation: { ...task.reservation, state: "captured" },
      succeededAt: later,
      image,
      nativeSize: aNativeSize,
    });
  });

  it.each<FailureReason>(["never_started", "refused", "submission_unknown", "never_submitted"])(
    "refunds its credits and records the reason when the provider did not accept it: %s",
    (reason) => {
      const { turn: _, submissions: __, ...task } = aReservedTask();
      expect(fail(aReservedTask(), reason, later)).toEqual({
        ...task,
        state: "failed",
        reservation: { ...task.reservation, state: "refunded" },
        failedAt: later,
        reason,
      });
    },
  );

  it.each<FailureReason>(["generation_failed", "deadline_passed"])(
    "refunds its credits and records the reason when it fails after the provider accepted it: %s",
    (reason) => {
      const { submittedAt, upstreamTaskId, ...task } = aSubmittedTask();
      expect(fail(aSubmittedTask(), reason, later)).toEqual({
        ...task,
        state: "failed",
        reservation: { ...task.reservation, state: "refunded" },
        failedAt: later,
        reason,
      });
    },
  );

  it.each<[Task["state"], Event, Task["state"]]>([
    ["queued", "start", "reserved"],
    ["queued", "fail", "failed"],
    ["reserved", "submit", "submitted"],
    ["reserved", "fail", "failed"],
    ["submitted", "finish", "generated"],
    ["submitted", "fail", "failed"],
    ["generated", "succeed", "succeeded"],
    ["generated", "fail", "failed"],
  ])("moves from %s by %s to %s, and the task before stays unchanged", (state, event, target) => {
    const before = states[state];
    const copy = structuredClone(before);
    expect(legalEvents(before)[event]?.().state).toBe(target);
    expect(before).toEqual(copy);
  });

  it("has no other transitions: the compiler refuses them", () => {
    type StatesThatAllow<Name extends Event> = Parameters<(typeof events)[Name]>[0]["state"];
    expectTypeOf<StatesThatAllow<"start">>().toEqualTypeOf<"queued">();
    expectTypeOf<StatesThatAllow<"submit">>().toEqualTypeOf<"reserved">();
    expectTypeOf<StatesThatAllow<"finish">>().toEqualTypeOf<"submitted">();
    expectTypeOf<StatesThatAllow<"succeed">>().toEqualTypeOf<"generated">();
    expectTypeOf<StatesThatAllow<"fail">>().toEqualTypeOf<"queued" | "reserved" | "submitted" | "generated">();
  });

  it("never leaves a final state, and resolves its credits exactly once, in every sequence of events", () => {
    return fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(states) as Task["state"][])),
        fc.array(fc.constantFrom(...(Object.keys(events) as Event[])), { maxLength: 20 }),
        (start, sequence) => {
          let task: Task = states[start];
          let resolutions = 0;
          for (const event of sequence) {
            const next: Task | undefined = legalEvents(task)[event]?.();
            if (next === undefined) continue;
            if (!isActive(next)) resolutions += 1;
            task = next;
            expect(task.reservation.state).toBe(
              isActive(task) ? "held" : { succeeded: "captured", failed: "refunded" }[task.state],
            );
            expect(task.reservation.credits).toBe(states[start].reservation.credits);
            expect([task.id, task.accountId, task.slug]).toEqual([
              states[start].id,
              states[start].accountId,
              states[start].slug,
            ]);
          }
          expect(resolutions).toBe(isActive(states[start]) && !isActive(task) ? 1 : 0);
        },
      ),
    );
  });

  it.each([
    ["queued", "processing", true, true],
    ["reserved", "processing", true, true],
    ["submitted", "processing", true, true],
    ["generated", "processing", true, false],
    ["succeeded", "succeeded", false, false],
    ["failed", "failed", false, false],
  ] as const)("in state %s: status %s, isActive %s, isCancelable %s", (state, status, active, cancelable) => {
    expect(statusOf(states[state])).toBe(status);
    expect(isActive(states[state])).toBe(active);
    expect(isCancelable(states[state])).toBe(cancelable);
  });

  it("is in progress while it is active, and after success while its image is uploading", () => {
    expect(isInProgress(states.queued)).toBe(true);
    expect(isInProgress(states.reserved)).toBe(true);
    expect(isInProgress(states.submitted)).toBe(true);
    expect(isInProgress(states.generated)).toBe(true);
    expect(isInProgress(aSucceededTask({ image }))).toBe(true);
    expect(isInProgress(aSucceededTask({ image: keep(image) }))).toBe(false);
    expect(isInProgress(states.failed)).toBe(false);
  });

  it("is in the gallery while it is public and its image is in permanent storage", () => {
    const shown = (visibility: "public" | "private", stored: StoredImage) =>
      isInGallery(aSucceededTask({ request: aCreationRequest({ visibility }), image: stored }));
    for (const stored of [keep(image), keepWithoutThumbnail(image)]) {
      expect([shown("public", stored), shown("private", stored)]).toEqual([true, false]);
    }
    for (const stored of [image, giveUp(image), expire(image)]) expect(shown("public", stored)).toBe(false);
    const request = aCreationRequest({ visibility: "public" });
    for (const task of [aGeneratedTask({ request }), aFailedTask({ request })]) expect(isInGallery(task)).toBe(false);
  });
});

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
    expect(openTask(standing(100, 2), draft("4k"), noon)._unsafeUnwrap()).toEqual({
      task: {
        ...draft("4k"),
        accountId: accountId(1),
        reservedAt: noon,
        state: "reserved",
        turn: undefined,
        submissions: 0,
        reservation: { taskId: taskId(1), accountId: accountId(1), credits: 10, state: "held" },
      },
      standing: standing(90, 3),
    });
  });

  it("queues a task that is given a turn, at the same price", () => {
    const { task, standing: after } = openTask(standing(100, 2), draft("4k"), noon, 3)._unsafeUnwrap();
    expect(task).toStrictEqual(aQueuedTask({ ...draft("4k"), turn: 3 }));
    expect(after).toEqual(standing(90, 3));
  });

  it.each([
    ["1k", 4],
    ["2k", 6],
    ["4k", 10],
  ] as const)(
    "opens a task of %s with a balance of exactly %i credits, and refuses with one credit less",
    (resolution, cost) => {
      expect(openTask(standing(cost, 0), draft(resolution), noon)._unsafeUnwrap().standing.credits).toBe(0);
      expect(openTask(standing(cost - 1, 0), draft(resolution), noon)).toEqual(
        err({ kind: "insufficient_credits", balance: cost - 1, cost }),
      );
    },
  );

  it("refuses while five tasks are active", () => {
    expect(openTask(standing(100, 4), draft(), noon).isOk()).toBe(true);
    expect(openTask(standing(100, 5), draft(), noon)).toEqual(err({ kind: "too_many_active_tasks", limit: 5 }));
  });

  it("checks the credits before the active tasks", () => {
    expect(openTask(standing(3, 5), draft(), noon)).toEqual(err({ kind: "insufficient_credits", balance: 3, cost: 4 }));
  });

  it("checks the credits, then the budget of the key, then the active tasks", () => {
    const budget = {
      budgets: { creditsPerDay: undefined, creditsPerMonth: credits(7) },
      spending: { today: 4, thisMonth: 4 },
    };
    const kind = (balance: number, active: number, spent = budget) =>
      openTask(standing(balance, active), draft(), noon, undefined, spent).match(
        ({ task }) => task.state,
        (refusal) => refusal.kind,
      );
    expect(kind(3, 5)).toBe("insufficient_credits");
    expect(kind(4, 5)).toBe("budget_spent");
    const left = { ...budget, spending: { today: 3, thisMonth: 3 } };
    expect(kind(4, 5, left)).toBe("too_many_active_tasks");
    expect(kind(4, 4, left)).toBe("reserved");
  });

  it("checks today's failures after the credits and before the active tasks", () => {
    const failures = { day: dayOf(noon), ...failuresMax(PANORAMA_POLICY.rates.write) };
    const kind = (balance: number, active: number, at = noon) =>
      openTask({ ...standing(balance, active), failures }, draft(), at).match(
        ({ task }) => task.state,
        (refusal) => refusal.kind,
      );
    expect(kind(3, 5)).toBe("insufficient_credits");
    expect(kind(4, 5)).toBe("too_many_failures");
    expect(kind(4, 4, new Date(noon.getTime() + 24 * 60 * 60 * 1000))).toBe("reserved");
  });

  it("applies the limit of failures that follows from the policy's writes", () => {
    const policy = { ...PANORAMA_POLICY, rates: panoramaPolicy({ writesPerMinute: 600 }).rates };
    const account = { ...standing(4, 0), failures: { day: dayOf(noon), ...failuresMax(PANORAMA_POLICY.rates.write) } };
    expect(openTask(account, draft(), noon, undefined, undefined, undefined, policy).isOk()).toBe(true);
  });

  it("records the key that creates the task, also when it fails", () => {
    const { task } = openTask(standing(4, 0), { ...draft(), apiKeyId: apiKeyId(7) }, noon)._unsafeUnwrap();
    expect(task.apiKeyId).toBe(apiKeyId(7));
    expect(fail(task, "refused", noon).apiKeyId).toBe(apiKeyId(7));
  });

  it("says when the task takes the balance below the account's threshold", () => {
    const lowBalance = (balance: number) => {
      const account = { ...standing(balance, 0), lowBalanceThreshold: credits(10) };
      const opened = openTask(account, draft(), noon)._unsafeUnwrap();
      expect(opened.standing).toEqual({ ...account, credits: balance - 4, activeTasks: 1 });
      return opened.lowBalance;
    };
    expect(lowBalance(14)).toBeUndefined();
    expect(lowBalance(13)).toEqual({ balance: 9, threshold: 10 });
    expect(lowBalance(9)).toBeUndefined();
    expect(openTask(standing(4, 0), draft(), noon)._unsafeUnwrap()).not.toHaveProperty("lowBalance");
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
            const opened = openTask(account, draft(event.open), noon);
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
