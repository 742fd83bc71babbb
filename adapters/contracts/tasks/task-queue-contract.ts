import { err, ok } from "neverthrow";
import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskQueue } from "../../../application/ports/stores/tasks/task-queue.js";
import type { Lease, QueueLimits, TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskWork } from "../../../application/ports/stores/tasks/task-work.js";
import type { IdempotentRequest } from "../../../domain/credits/idempotency.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { CreationRequest } from "../../../domain/tasks/creation-request.js";
import { type QueuedTask, type SubmittingTask, submit, type Task } from "../../../domain/tasks/task.js";
import {
  aCreationRequest,
  accountId,
  aPlace,
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
import { setUpTasks, type TaskStores, unwrap } from "./task-setup.js";

/**
 * Tests of a TaskStore with a queue (domain/tasks/queue.ts): `startQueued`, `requeue`, `changePlace`, `countAhead`, and
 * `open` with `queue`. A store behind a provider without limits does not need this suite.
 */
export const describeTaskQueue = (
  { describe, it, beforeEach, afterEach }: TestFunctions,
  technology: string,
  makeStores: () => Promise<TaskStores>,
): void =>
  describe(`the queue of a TaskStore ${technology}`, () => {
    const on = setUpTasks({ beforeEach, afterEach }, makeStores);
    const { owner, stranger, openAccount, open, submitted, failed, standing, keyed } = on;
    let tasks: TaskStore & TaskQueue & TaskWork & TaskLists;

    beforeEach(async () => {
      ({ tasks } = on.stores);
    });

    const later = secondsAfter(noon, 300);
    const deadline = secondsAfter(noon, 35);

    /** Opens a task with this concurrency limit. */
    const openLimited = async (n: number, concurrencyMax: number, { account = owner, idempotent }: Opening = {}) => {
      const { id, slug, request } = aSubmittingTask({ id: taskId(n) });
      const draft = { id, slug, request };
      const opened = await tasks.open({
        account,
        dueAt: noon,
        idempotent,
        decide: (standing, queued, _, place) => openATask(standing, draft, noon, { turn: queued?.turn, place }),
        queue: { places: limitedTo(concurrencyMax), dueAt: later },
      });
      return unwrap(opened).task;
    };
    type Opening = { readonly account?: AccountId; readonly idempotent?: IdempotentRequest };
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

    it("returns the turn of a task that ends in the queue if it is its account's last", async () => {
      await openAccount(2);
      await openLimited(1, 1);
      const waiting: Task[] = [];
      for (const n of [2, 3, 4, 5]) waiting.push(await openLimited(n, 1));
      expect(waiting).toMatchObject([2, 3, 4, 5].map((n) => ({ id: taskId(n), turn: n - 1 })));
      const [, second, , last] = waiting as [Task, Task, Task, Task];
      unwrap(await tasks.move(second, failed(second, "canceled"), undefined));
      unwrap(await tasks.move(last, failed(last, "canceled"), undefined));
      const turns = await Promise.all([2, 4].map((n) => tasks.find(taskId(n), owner)));
      expect(turns).toMatchObject([{ turn: 1 }, { turn: 3 }]);
      expect(await openLimited(6, 1, { account: stranger })).toMatchObject({ turn: 1 });
      expect(await openLimited(7, 1)).toMatchObject({ turn: 4 });
    });

    it("lets tasks of one account end, start and return at the same time", async () => {
      await openAccount(2);
      const sent = (await openLimited(1, 1)) as SubmittingTask;
      const waiting: Task[] = [];
      for (const n of [2, 3, 4, 5]) waiting.push(await openLimited(n, 1));
      const [first, second] = waiting as [Task, Task];
      const outcomes = await Promise.all([
        tasks.move(first, failed(first, "canceled"), undefined),
        tasks.requeue(sent, later),
        tasks.startQueued(limitedTo(2), 1, noon, deadline),
        tasks.move(second, failed(second, "canceled"), undefined),
        openLimited(6, 1, { account: stranger }),
      ]);
      expect(outcomes).toHaveLength(5);
      const left = (await tasks.list(owner, 9, undefined)).filter(({ state }) => state !== "failed");
      expect(await standing()).toMatchObject({ activeTasks: left.length });
    });

    it("keeps the turn of a returned task, which starts next", async () => {
      await openAccount(2);
      await openLimited(1, 1);
      await openLimited(2, 1);
      await openLimited(3, 1, { account: stranger });
      const [sent] = await tasks.startQueued(limitedTo(2), 1, noon, deadline);
      const back = aQueuedTask({ id: taskId(2), turn: 1, submissions: 1 });
      expect(await tasks.requeue(sent as SubmittingTask, later)).toEqual(ok(back));
      expect(await tasks.find(taskId(2), owner)).toEqual(back);
      expect(await standing()).toEqual({ accountId: owner, credits: 92, activeTasks: 2 });
      expect(await tasks.claim("giveUp", secondsAfter(noon, 299), later, 9)).toEqual([]);
      expect(await tasks.startQueued(limitedTo(2), 1, noon, deadline)).toEqual([
        aSubmittingTask({ id: taskId(2), turn: 1, submissions: 1, place: "only" }),
      ]);
    });

    it("skips a task before startAt and ignores an impossibly late startAt", async () => {
      await openAccount(2);
      const first = (await openLimited(1, 1)) as SubmittingTask;
      await openLimited(2, 1, { account: stranger });
      const start = async (at: Date) => ids(await tasks.startQueued(limitedTo(undefined), 9, at, deadline));
      unwrap(await tasks.requeue(first, later, secondsAfter(noon, 20)));
      expect(await start(noon)).toEqual([taskId(2)]);
      expect(await start(secondsAfter(noon, 19))).toEqual([]);
      const [again] = await tasks.startQueued(limitedTo(undefined), 9, secondsAfter(noon, 20), deadline);
      expect(again).toMatchObject({ id: taskId(1), submissions: 1 });
      unwrap(await tasks.requeue(again as SubmittingTask, later, secondsAfter(noon, 60)));
      expect(await start(secondsAfter(noon, -1))).toEqual([taskId(1)]);
    });

    it("lets a task that returns without a turn join the current round", async () => {
      await openAccount(2);
      const first = await openLimited(1, 3);
      const second = await openLimited(2, 3);
      await openLimited(3, 1);
      await openLimited(4, 1, { account: stranger });
      expect(unwrap(await tasks.requeue(second as SubmittingTask, later))).toMatchObject({ turn: 1, submissions: 1 });
      expect(unwrap(await tasks.requeue(first as SubmittingTask, later))).toMatchObject({ turn: 1, submissions: 1 });
      expect(await tasks.find(taskId(3), owner)).toMatchObject({ turn: 1 });
      expect(await openLimited(5, 1)).toMatchObject({ turn: 2 });
      const order: TaskId[] = [];
      for (let n = 0; n < 5; n += 1)
        order.push(...ids(await tasks.startQueued(limitedTo(undefined), 1, noon, deadline)));
      expect(order).toEqual([1, 2, 3, 4, 5].map(taskId));
    });

    it("rejects writes of an earlier submission", async () => {
      const first = (await openLimited(1, 1)) as SubmittingTask;
      const [lease] = await tasks.claim("recover", noon, later, 9);
      unwrap(await tasks.requeue(first, later));
      const [again] = await tasks.startQueued(limitedTo(1), 1, noon, deadline);
      expect(again).toEqual(aSubmittingTask({ id: taskId(1), turn: 1, submissions: 1, place: "only" }));
      const stale = err({ kind: "stale_task", id: taskId(1) });
      expect(await tasks.move(first, submit(first, "upstream-1", noon), later)).toEqual(stale);
      expect(await tasks.move(lease as Lease<Task>, failed(first), undefined)).toEqual(stale);
      expect(await tasks.requeue(first, later)).toEqual(stale);
      expect(await tasks.recordCancelRequest(first, noon)).toEqual(stale);
      expect(await tasks.requeue(lease as Lease<SubmittingTask>, later)).toEqual(stale);
      expect(await tasks.find(taskId(1), owner)).toEqual(again);
      unwrap(await tasks.requeue(again as SubmittingTask, later));
      expect(await tasks.move(aQueuedTask({ id: taskId(1), submissions: 1 }), failed(first), undefined)).toEqual(stale);
    });

    it("returns a task once, with concurrent callers and while others are given up", async () => {
      const opened: Task[] = [];
      for (const n of [1, 2, 3, 4]) opened.push(await openLimited(n, 9));
      const outcomes = await Promise.all([
        ...opened.map((task) => tasks.requeue(task as SubmittingTask, later)),
        ...opened.map((task) => tasks.requeue(task as SubmittingTask, later)),
        ...opened.map((task) => tasks.move(task, failed(task), undefined)),
      ]);
      expect(outcomes.filter((outcome) => outcome.isOk())).toHaveLength(4);
      const waiting = (await tasks.list(owner, 9, undefined)).filter(({ state }) => state === "queued");
      expect(await standing()).toMatchObject({ activeTasks: waiting.length });
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

    describe("of a provider with several places", () => {
      /** Makes only requests without reference images. */
      const first = (concurrencyMax: number) => aPlace(concurrencyMax, "first");
      const second = (concurrencyMax: number | undefined) => ({
        ...aPlace(concurrencyMax, "second"),
        canMake: ({ imageUrls }: CreationRequest) => imageUrls.length === 0,
      });
      const withImage = { image_urls: ["https://example.com/a.png"] };
      const openAt = async (n: number, places: QueueLimits["places"], fields = {}) => {
        const draft = {
          id: taskId(n),
          slug: aSubmittingTask({ id: taskId(n) }).slug,
          request: aCreationRequest(fields),
        };
        const opened = await tasks.open({
          account: owner,
          dueAt: noon,
          decide: (standing, queued, _, place) => openATask(standing, draft, noon, { turn: queued?.turn, place }),
          queue: { places: places.filter((place) => place.canMake(draft.request)), dueAt: later },
        });
        return unwrap(opened).task;
      };
      const placesOf = (started: readonly Task[]) =>
        started.map((task) => [task.id, task.state === "submitting" ? task.place : task.state]);

      it("starts each task at the first place with a free slot, and as many as there are slots together", async () => {
        const places = [first(1), second(2)];
        const opened: Task[] = [];
        for (const n of [1, 2, 3, 4]) opened.push(await openAt(n, places));
        expect(placesOf(opened).map(([, place]) => place)).toEqual(["first", "second", "second", "queued"]);
        expect(await tasks.startQueued(places, 9, noon, deadline)).toEqual([]);
        const [one, two] = opened as [SubmittingTask, SubmittingTask];
        unwrap(await tasks.move(one, submit(one, "first:1", noon), later));
        expect(await tasks.startQueued(places, 9, noon, deadline)).toEqual([]);
        unwrap(await tasks.move(two, failed(two, "refused"), undefined));
        expect(placesOf(await tasks.startQueued(places, 9, noon, deadline))).toEqual([[taskId(4), "second"]]);
      });

      it("counts the tasks without a recorded place at the first place", async () => {
        await submitted(1);
        const places = [first(1), second(1)];
        expect(await openAt(2, places)).toMatchObject({ state: "submitting", place: "second" });
        expect(await openAt(3, places)).toMatchObject({ state: "queued" });
      });

      it("starts tasks behind those whose place is full, which keep their turns and start first later", async () => {
        const places = [first(1), second(undefined)];
        await openAt(1, places, withImage);
        // More than the first page of tasks that only the first place can make.
        for (const n of [2, 3]) await openAt(n, places, withImage);
        await openAt(4, places);
        expect(placesOf(await tasks.startQueued(places, 1, noon, deadline))).toEqual([[taskId(4), "second"]]);
        await openAt(5, places, withImage);
        expect(placesOf(await tasks.startQueued(places, 9, noon, deadline))).toEqual([]);
        expect(placesOf(await tasks.startQueued([first(2), second(undefined)], 9, noon, deadline))).toEqual([
          [taskId(2), "first"],
        ]);
      });

      it("moves the slot of a task to a place with a free slot, and to no other", async () => {
        const places = [first(2), second(1)];
        const [one, two] = [await openAt(1, places), await openAt(2, places)] as [SubmittingTask, SubmittingTask];
        expect(await tasks.changePlace(one, second(1))).toBe(true);
        expect(await tasks.find(one.id, owner)).toEqual({ ...one, place: "second" });
        expect(await tasks.changePlace(two, second(1))).toBe(false);
        expect(await tasks.find(two.id, owner)).toEqual(two);
        expect(await tasks.changePlace(two, second(undefined))).toBe(true);
        const submitted = submit(one, "second:1", noon);
        unwrap(await tasks.move(one, submitted, later));
        // The store knows where the slot is, whatever the caller has read before.
        expect(await tasks.find(one.id, owner)).toEqual({ ...submitted, place: "second" });
        expect(await openAt(3, [first(1), second(1)])).toMatchObject({ state: "submitting", place: "first" });
        expect(await openAt(4, [first(1), second(3)])).toMatchObject({ state: "submitting", place: "second" });
        expect(await openAt(5, [first(1), second(3)])).toMatchObject({ state: "queued" });
      });

      it("moves no task of another submission, and frees the slot of a returned task", async () => {
        const places = [first(1)];
        const one = (await openAt(1, places)) as SubmittingTask;
        unwrap(await tasks.requeue(one, later));
        expect(await tasks.changePlace(one, second(1))).toBe(false);
        expect(await tasks.changePlace(one, second(undefined))).toBe(false);
        const [again] = await tasks.startQueued(places, 9, noon, deadline);
        expect(again).toMatchObject({ id: one.id, submissions: 1, place: "first" });
        expect(await tasks.changePlace(one, second(1))).toBe(false);
        expect(await tasks.changePlace(again as SubmittingTask, second(1))).toBe(true);
        unwrap(await tasks.move(again as SubmittingTask, submit(again as SubmittingTask, "second:1", noon), later));
        expect(await tasks.changePlace(again as SubmittingTask, first(1))).toBe(false);
      });

      it("gives the last slot to one of several tasks that move to it at once", async () => {
        const places = [first(4)];
        const opened: SubmittingTask[] = [];
        for (const n of [1, 2, 3, 4]) opened.push((await openAt(n, places)) as SubmittingTask);
        const moved = await Promise.all(opened.map((task) => tasks.changePlace(task, second(2))));
        expect(moved.filter((one) => one)).toHaveLength(2);
        expect(await openAt(5, [second(2)])).toMatchObject({ state: "queued" });
      });
    });

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
