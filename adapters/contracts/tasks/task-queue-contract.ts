import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskQueue } from "../../../application/ports/stores/tasks/task-queue.js";
import type { Lease, QueueLimits, TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskWork } from "../../../application/ports/stores/tasks/task-work.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { QueuedTask, SubmittingTask, Task } from "../../../domain/tasks/task.js";
import {
  accountId,
  aQueuedTask,
  aSubmittingTask,
  limitedTo,
  noon,
  openATask,
  secondsAfter,
  taskId,
} from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { describePlaces } from "./task-places-contract.js";
import { describeRequeue } from "./task-requeue-contract.js";
import { setUpTasks, type TaskStores, unwrap } from "./task-setup.js";

/**
 * Tests of a TaskStore with a queue (domain/tasks/queue.ts): `startQueued`, `requeue`, `changePlace`, `countAhead`, and
 * `open` with `queue`. A store behind a provider without limits does not need this suite.
 */
export const describeTaskQueue = (
  test: TestFunctions,
  technology: string,
  makeStores: () => Promise<TaskStores>,
): void =>
  test.describe(`the queue of a TaskStore ${technology}`, () => {
    const { describe, it, beforeEach } = test;
    const on = setUpTasks(test, makeStores);
    const { owner, stranger, openAccount, open, openLimited, later, deadline, submitted, failed, standing, keyed } = on;
    let tasks: TaskStore & TaskQueue & TaskWork & TaskLists;

    beforeEach(async () => {
      ({ tasks } = on.stores);
    });

    const ids = (started: readonly Task[]) => started.map(({ id }) => id).sort();

    it("queues a task if no slot is free, and stores, charges and counts it like any other", async () => {
      expect(await openLimited(1, 1)).toEqual(aSubmittingTask({ id: taskId(1), place: "only" }));
      const queued = aQueuedTask({ id: taskId(2), turn: 1 });
      expect(await openLimited(2, 1)).toEqual(queued);
      expect(await tasks.find(queued.id, owner)).toEqual(queued);
      expect(await standing()).toEqual({ accountId: owner, credits: 92, activeTasks: 2 });
    });

    it("queues a new task while another one waits, even if a slot is free", async () => {
      const first = await openLimited(1, 1);
      await openLimited(2, 1);
      unwrap(await tasks.move(first, failed(first), undefined));
      expect(await openLimited(3, 1)).toMatchObject({ state: "queued", turn: 2 });
    });

    it("counts submitted tasks as running, but not finished ones", async () => {
      const task = await submitted(1);
      expect(await openLimited(2, 1)).toMatchObject({ state: "queued" });
      unwrap(await tasks.move(task, failed(task), undefined));
      expect(ids(await tasks.startQueued(limitedTo(1), 9, noon, deadline))).toEqual([taskId(2)]);
    });

    it("starts as many tasks as there are free slots, at most the limit, due at their deadline", async () => {
      for (const n of [1, 2, 3, 4, 5]) await openLimited(n, 1);
      const fourth = aSubmittingTask({ id: taskId(4), turn: 3, place: "only" });
      expect(await tasks.startQueued(limitedTo(1), 9, noon, deadline)).toEqual([]);
      expect(await tasks.startQueued(limitedTo(3), 9, noon, deadline)).toHaveLength(2);
      expect(await tasks.startQueued(limitedTo(3), 9, noon, deadline)).toEqual([]);
      expect(await tasks.startQueued(limitedTo(undefined), 1, noon, deadline)).toEqual([fourth]);
      expect(await tasks.find(taskId(4), owner)).toEqual(fourth);
      expect(await tasks.claim("recover", secondsAfter(noon, 34), later, 9)).toHaveLength(1);
      expect(await tasks.claim("recover", deadline, later, 9)).toHaveLength(3);
    });

    it("starts the tasks of waiting accounts in turn", async () => {
      await openAccount(2);
      for (const n of [1, 2, 3, 4]) await openLimited(n, 1);
      for (const n of [5, 6]) await openLimited(n, 1, { account: stranger });
      const order: TaskId[] = [];
      for (let concurrencyMax = 2; concurrencyMax <= 6; concurrencyMax += 1) {
        for (const { id } of await tasks.startQueued(limitedTo(concurrencyMax), 9, noon, deadline)) order.push(id);
      }
      expect(order).toEqual([2, 5, 3, 6, 4].map(taskId));
    });

    it("gives each free slot to one task, with concurrent callers", async () => {
      for (const n of [1, 2, 3, 4, 5]) await openLimited(n, 1);
      const asked = await Promise.all(
        Array.from({ length: 8 }, () => tasks.startQueued(limitedTo(3), 9, noon, deadline)),
      );
      expect(ids(asked.flat())).toEqual([2, 3].map(taskId));
    });

    it("reserves as many concurrent creations of many accounts as there are slots", async () => {
      const many = [3, 4, 5, 6, 7, 8, 9, 10];
      for (const n of many) await openAccount(n);
      const opened = await Promise.all(many.map((n) => openLimited(n, 3, { account: accountId(n) })));
      expect(opened.filter(({ state }) => state === "submitting")).toHaveLength(3);
    });

    it("lets a queued task be claimed for giving up only when its waiting time has passed", async () => {
      await openLimited(1, 1);
      await openLimited(2, 1);
      expect(await tasks.claim("giveUp", secondsAfter(noon, 299), later, 9)).toEqual([]);
      const [lease] = await tasks.claim("giveUp", later, secondsAfter(later, 60), 9);
      expect(lease?.task).toEqual(aQueuedTask({ id: taskId(2) }));
      unwrap(
        await tasks.move(lease as Lease<Task>, failed(aQueuedTask({ id: taskId(2) }), "never_started"), undefined),
      );
      expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
      expect(await tasks.startQueued(limitedTo(2), 9, noon, deadline)).toEqual([]);
    });

    it("starts no task whose waiting time has passed, and none that is being given up", async () => {
      await openLimited(1, 1);
      await openLimited(2, 1);
      expect(await tasks.startQueued(limitedTo(2), 9, later, deadline)).toEqual([]);
      const [lease] = await tasks.claim("giveUp", later, secondsAfter(later, 60), 9);
      expect(await tasks.startQueued(limitedTo(2), 9, secondsAfter(later, 1), deadline)).toEqual([]);
      unwrap(
        await tasks.move(lease as Lease<Task>, failed(aQueuedTask({ id: taskId(2) }), "never_started"), undefined),
      );
    });

    it("passes ahead and waiting to the decision of a queued task", async () => {
      await openAccount(2);
      const places: unknown[] = [];
      const place = async (n: number, account: AccountId, among: QueueLimits["places"]) => {
        const { id, slug, request } = aSubmittingTask({ id: taskId(n) });
        await tasks.open({
          account,
          dueAt: noon,
          decide: (standing, place) => {
            places.push(place);
            return openATask(standing, { id, slug, request }, noon, { turn: place?.turn });
          },
          queue: { places: among, dueAt: later },
        });
      };
      await place(1, owner, limitedTo(undefined));
      await place(2, owner, []);
      await place(3, owner, limitedTo(9));
      await place(4, owner, limitedTo(undefined));
      await place(5, stranger, limitedTo(undefined));
      expect(places).toEqual([
        undefined,
        { turn: 1, ahead: 0, waiting: 0 },
        { turn: 2, ahead: 1, waiting: 1 },
        { turn: 3, ahead: 2, waiting: 2 },
        { turn: 1, ahead: 1, waiting: 3 },
      ]);
    });

    it("counts the tasks that are started before a waiting one", async () => {
      await openAccount(2);
      const sent = await openLimited(1, 1);
      for (const n of [2, 3, 4]) await openLimited(n, 1);
      for (const n of [5, 6]) await openLimited(n, 1, { account: stranger });
      unwrap(await tasks.requeue(sent as SubmittingTask, later));
      const waiting = await Promise.all(
        [1, 2, 3, 4, 5, 6].map((n) => tasks.find(taskId(n), n < 5 ? owner : stranger) as Promise<QueuedTask>),
      );
      const ahead = await Promise.all(waiting.map((task) => tasks.countAhead(task, 99)));
      const order: TaskId[] = [];
      for (const _ of waiting)
        for (const { id } of await tasks.startQueued(limitedTo(6), 1, noon, deadline)) order.push(id);
      expect(order).toEqual([1, 2, 5, 3, 6, 4].map(taskId));
      expect(ahead).toEqual(waiting.map(({ id }) => order.indexOf(id)));
    });

    it("counts no more tasks before a waiting one than asked for", async () => {
      const waiting: Task[] = [];
      for (const n of [1, 2, 3, 4]) waiting.push(await openLimited(n, 0));
      expect(await tasks.countAhead(waiting[3] as QueuedTask, 4)).toBe(3);
      expect(await tasks.countAhead(waiting[3] as QueuedTask, 2)).toBe(2);
    });

    describeRequeue(test, on);
    describe("of a provider with several places", () => describePlaces(test, on));

    const waits: readonly [string, (task: Task) => Promise<Task>][] = [
      ["was given up", async (task) => task],
      [
        "was started and then refused",
        async () => (await tasks.startQueued(limitedTo(2), 1, noon, deadline))[0] as Task,
      ],
    ];
    for (const [what, wait] of waits) {
      it(`keeps the idempotency key of a queued task that ${what}, because its creation succeeded`, async () => {
        await openLimited(1, 1);
        const queued = await openLimited(2, 1, { idempotent: keyed("k") });
        const before = await wait(queued);
        unwrap(await tasks.move(before, failed(before, "refused"), undefined));
        const again = await open(aSubmittingTask({ id: taskId(3) }), { idempotent: keyed("k") });
        expect(unwrap(again)).toMatchObject({ replayed: true, task: { id: taskId(2), state: "failed" } });
      });
    }
  });
