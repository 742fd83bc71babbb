import * as fc from "fast-check";
import { err } from "neverthrow";
import { describe, expect, it } from "vitest";
import { credits } from "../../domain/credits.js";
import { RESOLUTIONS, type Resolution } from "../../domain/resolution.js";
import type { Slug } from "../../domain/slug.js";
import { uploading } from "../../domain/storage-status.js";
import {
  type FailureReason,
  fail,
  isActive,
  isRefusedCreation,
  openTask,
  start,
  statusOf,
  submit,
  succeed,
  type Task,
} from "../../domain/task.js";
import {
  aCreationRequest,
  accountId,
  aFailedTask,
  anImageName,
  aQueuedTask,
  aReservedTask,
  aSubmittedTask,
  aSucceededTask,
  noon,
  secondsAfter,
  taskId,
} from "../support/builders.js";

const later = secondsAfter(noon, 90);
const image = uploading("https://provider.example.com/temporary/1.jpg", anImageName());

const states = {
  queued: aQueuedTask(),
  reserved: aReservedTask(),
  submitted: aSubmittedTask(),
  succeeded: aSucceededTask(),
  failed: aFailedTask(),
} as const satisfies Record<Task["state"], Task>;

const events = {
  start: (task: Task) => start(task),
  submit: (task: Task) => submit(task, "upstream-2", later),
  succeed: (task: Task) => succeed(task, image, later),
  fail: (task: Task) => fail(task, "deadline_passed", later),
} as const;
type Event = keyof typeof events;
const everyEvent = Object.keys(events) as Event[];
const everyState = Object.keys(states) as Task["state"][];

/** The drawing in task.ts, said a second time. */
const arrows: Readonly<Record<Task["state"], Partial<Record<Event, Task["state"]>>>> = {
  queued: { start: "reserved", fail: "failed" },
  reserved: { submit: "submitted", fail: "failed" },
  submitted: { succeed: "succeeded", fail: "failed" },
  succeeded: {},
  failed: {},
};

describe("a task", () => {
  it("records when the provider took it, and under which id", () => {
    const task = aReservedTask();
    const { waited: _, ...core } = task;
    expect(submit(task, "upstream-2", later)._unsafeUnwrap()).toStrictEqual({
      ...core,
      state: "submitted",
      submittedAt: later,
      upstreamTaskId: "upstream-2",
    });
  });

  it("that waited is started: it gives up its turn, and its creation has been answered", () => {
    const { turn: _, ...core } = aQueuedTask({ turn: 7 });
    expect(start(aQueuedTask({ turn: 7 }))._unsafeUnwrap()).toStrictEqual({ ...core, state: "reserved", waited: true });
  });

  it("leaves its idempotency key free if its creation was refused, and only then", () => {
    const failed = aFailedTask({ reason: "refused" });
    expect(isRefusedCreation(aReservedTask(), failed)).toBe(true);
    expect(isRefusedCreation(aReservedTask({ waited: true }), failed)).toBe(false);
    expect(isRefusedCreation(aQueuedTask(), failed)).toBe(false);
    expect(isRefusedCreation(aSubmittedTask(), failed)).toBe(false);
    expect(isRefusedCreation(aReservedTask(), aSubmittedTask())).toBe(false);
  });

  it("spends its credits when it succeeds, and has an image to keep", () => {
    const task = aSubmittedTask();
    expect(succeed(task, image, later)._unsafeUnwrap()).toEqual({
      ...task,
      state: "succeeded",
      reservation: { ...task.reservation, state: "captured" },
      succeededAt: later,
      image,
    });
  });

  it.each<FailureReason>(["never_started", "refused", "submission_unknown", "never_submitted"])(
    "that the provider never took gives its credits back, and says why: %s",
    (reason) => {
      const { waited: _, ...task } = aReservedTask();
      expect(fail(aReservedTask(), reason, later)._unsafeUnwrap()).toEqual({
        ...task,
        state: "failed",
        reservation: { ...task.reservation, state: "refunded" },
        failedAt: later,
        reason,
      });
    },
  );

  it.each<FailureReason>(["generation_failed", "deadline_passed"])(
    "that the provider took gives its credits back, and says why: %s",
    (reason) => {
      const { submittedAt, upstreamTaskId, ...task } = aSubmittedTask();
      expect(fail(aSubmittedTask(), reason, later)._unsafeUnwrap()).toEqual({
        ...task,
        state: "failed",
        reservation: { ...task.reservation, state: "refunded" },
        failedAt: later,
        reason,
      });
    },
  );

  it.each(everyState.flatMap((state) => everyEvent.map((event) => [state, event] as const)))(
    "that is %s answers %s as the drawing says",
    (state, event) => {
      const before = states[state];
      const copy = structuredClone(before);

      const result = events[event](before);

      const target = arrows[state][event];
      if (target === undefined) expect(result).toEqual(err({ kind: "illegal_transition", from: state, event }));
      else expect(result._unsafeUnwrap().state).toBe(target);
      expect(before).toEqual(copy);
    },
  );

  it("walks only along the arrows, never leaves a final state, and resolves its credits exactly once", () => {
    return fc.assert(
      fc.property(
        fc.constantFrom(...everyState),
        fc.array(fc.constantFrom(...everyEvent), { maxLength: 20 }),
        (start, story) => {
          let task: Task = states[start];
          let resolutions = 0;
          for (const event of story) {
            const next = events[event](task);
            expect(next.isOk()).toBe(arrows[task.state][event] !== undefined);
            if (next.isErr()) continue;
            if (!isActive(next.value)) resolutions += 1;
            task = next.value;
            expect(task.reservation.state).toBe(
              { queued: "held", reserved: "held", submitted: "held", succeeded: "captured", failed: "refunded" }[
                task.state
              ],
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
    ["queued", "processing", true],
    ["reserved", "processing", true],
    ["submitted", "processing", true],
    ["succeeded", "succeeded", false],
    ["failed", "failed", false],
  ] as const)("that is %s is shown as %s; active: %s", (state, status, active) => {
    expect(statusOf(states[state])).toBe(status);
    expect(isActive(states[state])).toBe(active);
  });
});

describe("opening a task", () => {
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

  it("holds the price, and counts one active task more", () => {
    expect(openTask(standing(100, 2), draft("4k"), noon)._unsafeUnwrap()).toEqual({
      task: {
        ...draft("4k"),
        accountId: accountId(1),
        reservedAt: noon,
        state: "reserved",
        waited: false,
        reservation: { taskId: taskId(1), accountId: accountId(1), credits: 10, state: "held" },
      },
      standing: standing(90, 3),
    });
  });

  it("queues it in its turn, at the same price, if it has to wait", () => {
    const { task, standing: after } = openTask(standing(100, 2), draft("4k"), noon, 3)._unsafeUnwrap();
    expect(task).toStrictEqual(aQueuedTask({ ...draft("4k"), turn: 3 }));
    expect(after).toEqual(standing(90, 3));
  });

  it.each([
    ["1k", 4],
    ["2k", 6],
    ["4k", 10],
  ] as const)("of %s needs %i credits: with just as many it opens, with one less it does not", (resolution, cost) => {
    expect(openTask(standing(cost, 0), draft(resolution), noon)._unsafeUnwrap().standing.credits).toBe(0);
    expect(openTask(standing(cost - 1, 0), draft(resolution), noon)).toEqual(
      err({ kind: "insufficient_credits", balance: cost - 1, cost }),
    );
  });

  it("is refused while five tasks are active", () => {
    expect(openTask(standing(100, 4), draft(), noon).isOk()).toBe(true);
    expect(openTask(standing(100, 5), draft(), noon)).toEqual(err({ kind: "too_many_active_tasks", limit: 5 }));
  });

  it("looks at the credits before it looks at the active tasks", () => {
    expect(openTask(standing(3, 5), draft(), noon)).toEqual(err({ kind: "insufficient_credits", balance: 3, cost: 4 }));
  });

  it("again and again, with tasks that end in between, keeps the balance exact and never negative", () => {
    const step = fc.oneof(
      fc.constantFrom(...(Object.keys(RESOLUTIONS) as Resolution[])).map((resolution) => ({ open: resolution })),
      fc.record({ end: fc.nat(), succeeds: fc.boolean() }),
    );
    return fc.assert(
      fc.property(fc.nat(100), fc.array(step, { maxLength: 60 }), (purchased, story) => {
        let account = standing(purchased, 0);
        let spent = 0;
        const active: Task[] = [];
        for (const event of story) {
          if ("open" in event) {
            const opened = openTask(account, draft(event.open), noon);
            const price = RESOLUTIONS[event.open].credits;
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
