import { err } from "neverthrow";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import type { AccountId } from "../../../domain/ids.js";
import { statusOf, type Task } from "../../../domain/tasks/task.js";
import { useCases } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;

beforeEach(async () => {
  world = aWorld();
  world.provider.concurrencyMax = 1;
  world.provider.play({ poll: "running" });
  owner = await anOwner(world, 100);
});

const create = async (account = owner, key?: string): Promise<Task> =>
  (await world.createPanorama(account, aCreationRequest(), key as IdempotencyKey | undefined))._unsafeUnwrap().task;
const stored = (task: Task) => world.tasks.find(task.id, task.accountId);
/** Ends the running task and does all other due work. */
const endRunning = async () => {
  world.provider.play({ poll: "succeeded" });
  await world.clock.advance(world.provider.nextPollMilliseconds());
  await world.settle();
  world.provider.play({ poll: "running" });
};

describe("createPanorama without a free slot of the provider", () => {
  it("accepts and charges the task, and sends nothing to the provider", async () => {
    await create();
    const task = await create();
    expect(task.state).toBe("queued");
    expect(statusOf(task)).toBe("processing");
    expect(world.provider.started).toBe(1);
    expect(await world.ledger.balance(owner)).toBe(92);
    expect(world.reporter.of("task_queued")).toEqual([{ kind: "task_queued", taskId: task.id }]);
  });

  it("checks the credits, then the active tasks, and refuses the task while the provider is down", async () => {
    const poor = await anOwner(world, 3);
    world.provider.ready = "down";
    const refused = async (account: AccountId) =>
      (await world.createPanorama(account, aCreationRequest()))._unsafeUnwrapErr().kind;
    expect(await refused(poor)).toBe("insufficient_credits");
    expect(await refused(owner)).toBe("upstream_error");
    expect((await world.ledger.entries(owner)).map(({ kind }) => kind)).toEqual(["purchase"]);
    expect(world.provider.started).toBe(0);
    world.provider.ready = "ready";
    for (let n = 0; n < 5; n += 1) await create();
    world.provider.ready = "down";
    expect(await refused(owner)).toBe("too_many_active_tasks");
  });
});

describe("startQueuedTasks", () => {
  it("returns a task to the head of the queue when the provider is busy, and the task succeeds later", async () => {
    const other = await anOwner(world, 100);
    await create();
    const [task, next] = [await create(owner, "key"), await create(other)];
    await endRunning();
    world.provider.submit = async () => err({ kind: "busy", reason: "no room" });
    expect(await world.start()).toBe(1); // and nothing more in this run
    world.provider.ready = "busy";
    expect(await stored(task)).toMatchObject({ state: "queued", turn: 1, submissions: 1 });
    expect(world.reporter.of("task_requeued")).toEqual([{ kind: "task_requeued", taskId: task.id, detail: "no room" }]);
    expect(await world.start()).toBe(0);
    expect(world.reporter.of("task_failed")).toEqual([]);

    world.provider.ready = "ready";
    world.provider.play({ submit: "accept" });
    Reflect.deleteProperty(world.provider, "submit");
    expect(await world.start()).toBe(1);
    expect(await stored(task)).toMatchObject({ state: "submitted" });
    expect(await stored(next)).toMatchObject({ state: "queued" });
    expect((await create(owner, "key")).id).toBe(task.id);
    expect(await world.ledger.balance(owner)).toBe(92);
  });

  it("submits nothing while the provider is down, and then one task to probe it", async () => {
    world.provider.concurrencyMax = 3;
    for (let n = 0; n < 3; n += 1) await create();
    const waiting = [await create(), await create()];
    for (let n = 0; n < 3; n += 1) await endRunning();
    world.provider.ready = "down";
    const startQueued = vi.spyOn(world.tasks, "startQueued");
    expect(await world.start()).toBe(0);
    expect(startQueued).not.toHaveBeenCalled();
    expect((await Promise.all(waiting.map(stored))).map((task) => task?.state)).toEqual(["queued", "queued"]);

    world.provider.ready = "probing";
    const answer = world.provider.hold("submit");
    const starting = world.start();
    await world.clock.advance(1_000);
    expect((await Promise.all(waiting.map(stored))).map((task) => task?.state)).toEqual(["submitting", "queued"]);
    world.provider.ready = "ready";
    answer();
    expect(await starting).toBe(2);
  });

  it("submits nothing while it stops, or to a place that is down", async () => {
    await create();
    const task = await create();
    world.provider.concurrencyMax = undefined;
    const trace = vi.fn((_work: string, _task: Task | undefined, run: () => Promise<unknown>) => run());
    Object.assign(world.reporter, { trace });
    expect(await world.start(AbortSignal.abort())).toBe(0);
    const down = world.provider.places().map((place) => ({ ...place, readiness: "down" as const }));
    const places = vi.spyOn(world.provider, "places").mockReturnValue(down);
    expect(await world.start()).toBe(0);
    places.mockRestore();
    expect(await world.start()).toBe(1);
    expect(trace.mock.calls.map(([work, traced]) => [work, traced?.id])).toEqual([["start", task.id]]);
  });

  it("submits the other tasks when recording one submission throws", async () => {
    await create();
    const [a, b] = [await create(), await create()];
    world.provider.concurrencyMax = undefined;
    const lost = new Error("the database is gone");
    const tasks = Object.assign(Object.create(world.tasks), {
      move: (current: Task, ...rest: [Task, Date | undefined]) =>
        current.id === a.id ? Promise.reject(lost) : world.tasks.move(current, ...rest),
    });
    expect(await useCases({ ...world, tasks }).start()).toBe(2);
    expect(await stored(b)).toMatchObject({ state: "submitted" });
    expect(world.reporter.of("work_failed")).toMatchObject([{ work: "start", taskId: a.id, error: lost }]);
  });
});
