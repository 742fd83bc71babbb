import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest, taskId } from "../../../adapters/contracts/support/builders.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import { useCases } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
let id: TaskId;
const never = new AbortController().signal;

beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
  id = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task.id;
});

describe("readTask", () => {
  it("gives not_found for a task of another account and for an unknown id", async () => {
    const stranger = await anOwner(world, 100);
    const message = (unknown: TaskId) => `There is no task ${unknown} on this account.`;
    expect((await world.readTask(id, stranger))._unsafeUnwrapErr()).toEqual({
      kind: "not_found",
      message: message(id),
    });
    const unknown = taskId(999);
    expect((await world.readTask(unknown, owner))._unsafeUnwrapErr().message).toBe(message(unknown));
  });
});

describe("waitForTask", () => {
  /** The task's poll is due immediately, so that settling does not need the clock. */
  const settleNow = async () => {
    const task = (await world.readTask(id, owner))._unsafeUnwrap();
    (await world.tasks.move(task, task, world.clock.now()))._unsafeUnwrap();
    await world.settle();
  };
  const nothingLeft = () => expect([world.clock.sleeping, world.signals.waitedFor().length]).toEqual([0, 0]);

  it("resolves when the task ends, without waiting for the clock", async () => {
    const waiting = world.waitForTask(id, owner, 30_000, never);
    await world.clock.advance(0);
    await settleNow();
    expect((await waiting)._unsafeUnwrap().state).toBe("succeeded");
    nothingLeft();
  });

  it("resolves with the current task after the timeout", async () => {
    const waiting = world.waitForTask(id, owner, 2_500, never);
    await world.clock.advance(2_500);
    expect((await waiting)._unsafeUnwrap().state).toBe("submitted");
    nothingLeft();
  });

  it("does not wait for a task that has ended or does not exist", async () => {
    await settleNow();
    expect((await world.waitForTask(id, owner, 30_000, never))._unsafeUnwrap().state).toBe("succeeded");
    expect((await world.waitForTask(taskId(999), owner, 30_000, never))._unsafeUnwrapErr().kind).toBe("not_found");
    nothingLeft();
  });

  it("sees a move by another instance when the tasks are watched, which happens every second", async () => {
    const { signals: _, ...elsewhere } = world;
    const silent = () => {};
    const noSignals = { announce: silent, next: () => new Promise<void>(silent), waitedFor: () => [], wake: silent };
    const waiting = world.waitForTask(id, owner, 30_000, never);
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await useCases({ ...elsewhere, signals: noSignals }).settle();
    let ended = false;
    waiting.finally(() => {
      ended = true;
    });
    await world.clock.advance(1_000);
    expect(ended).toBe(false);
    await world.watch();
    await world.clock.advance(0);
    expect(ended).toBe(true);
    expect((await waiting)._unsafeUnwrap().state).toBe("succeeded");
    nothingLeft();
  });

  it("resolves when the client disconnects", async () => {
    const gone = new AbortController();
    const waiting = world.waitForTask(id, owner, 30_000, gone.signal);
    await world.clock.advance(1_500);
    gone.abort();
    expect((await waiting)._unsafeUnwrap().state).toBe("submitted");
    nothingLeft();
  });

  it("does not wait longer than requested when the clock is set back", async () => {
    const times = [world.clock.now(), new Date(world.clock.now().getTime() - 60 * 60 * 1000)];
    const setBack = { now: () => times.shift() ?? world.clock.now(), sleep: () => new Promise<void>(() => {}) };
    const { waitForTask } = useCases({ ...world, clock: setBack });
    expect((await waitForTask(id, owner, 30_000, never))._unsafeUnwrap().state).toBe("submitted");
    nothingLeft();
  });

  it("leaves no listener behind when the store throws", async () => {
    const down = new Error("the database is down");
    const { waitForTask } = useCases({
      ...world,
      tasks: new Proxy(world.tasks, {
        get: (store, name) => (name === "find" ? () => Promise.reject(down) : Reflect.get(store, name)),
      }),
    });
    await expect(waitForTask(id, owner, 30_000, never)).rejects.toBe(down);
    nothingLeft();
  });

  it("costs one statement a second for 2,000 waits, and none without waits", async () => {
    const statements: string[] = [];
    const tasks = new Proxy(world.tasks, {
      get: (store, name) => {
        const method = Reflect.get(store, name);
        return typeof method !== "function"
          ? method
          : (...values: unknown[]) => {
              statements.push(String(name));
              return method.apply(store, values);
            };
      },
    });
    const { waitForTask, watch } = useCases({ ...world, tasks });
    const other = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task.id;
    const waits = Array.from({ length: 2000 }, (_, n) => waitForTask(n % 2 ? id : other, owner, 30_000, never));
    await world.clock.advance(0);
    expect(statements.splice(0)).toEqual(Array(2000).fill("find"));
    for (let second = 1; second <= 10; second += 1) {
      await world.clock.advance(1_000);
      await watch();
    }
    expect(statements.splice(0)).toEqual(Array(10).fill("ended"));
    await settleNow();
    for (const result of await Promise.all(waits.filter((_, n) => n % 2 === 1))) {
      expect(result._unsafeUnwrap().state).toBe("succeeded");
    }
    await world.clock.advance(20_000);
    await Promise.all(waits);
    statements.length = 0;
    await watch();
    expect(statements).toEqual([]);
    nothingLeft();
  });
});
