import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { Task } from "../../../domain/tasks/task.js";
import { GENERATION_DEADLINE_MILLISECONDS, LEASE_MILLISECONDS, useCases } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

describe("cancelTask", () => {
  let world: World;
  let owner: AccountId;

  beforeEach(async () => {
    world = aWorld();
    owner = await anOwner(world, 100);
  });

  const created = async (): Promise<TaskId> =>
    (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task.id;
  const balance = () => world.ledger.balance(owner);
  const stateOf = async (id: TaskId) => (await world.readTask(id, owner))._unsafeUnwrap().state;
  /** Why the task has failed, or its state. */
  const end = async (id: TaskId) => {
    const task = (await world.readTask(id, owner))._unsafeUnwrap();
    return task.state === "failed" ? task.reason : task.state;
  };
  const cancel = async (id: TaskId) => (await world.cancelTask(id, owner))._unsafeUnwrap();
  const settle = async () => {
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
  };
  const passLease = () => world.clock.advance(LEASE_MILLISECONDS);
  /** A task that waits because another one has the only slot of the provider. */
  const queued = async (): Promise<TaskId> => {
    world.provider.concurrencyMax = 1;
    await created();
    return created();
  };

  it("ends a queued task with its refund at once, and sends nothing to the provider", async () => {
    const id = await queued();
    expect(await balance()).toBe(92);
    expect(await cancel(id)).toMatchObject({
      id,
      state: "failed",
      reason: "canceled",
      reservation: { state: "refunded" },
    });
    expect(await balance()).toBe(96);
    expect(world.provider.startedFor(id)).toBe(0);
    expect(world.provider.canceled.size).toBe(0);
    await settle();
    expect(await world.start()).toBe(0);
    expect(world.reporter.of("task_failed")).toEqual([
      { kind: "task_failed", taskId: id, reason: "canceled", detail: "nothing was sent to the provider" },
    ]);
  });

  it("ends a submitted task with its refund if the provider has stopped it without a charge", async () => {
    const id = await created();
    const before = await cancel(id);
    expect(before).toMatchObject({ state: "failed", reason: "canceled" });
    expect(await balance()).toBe(100);
    expect(world.reporter.of("task_failed")).toEqual([
      {
        kind: "task_failed",
        taskId: id,
        provider: "scripted",
        reason: "canceled",
        detail: "the provider has stopped it",
      },
    ]);
    expect(await cancel(id)).toEqual(before);
    expect(await balance()).toBe(100);
    await settle();
    expect(await stateOf(id)).toBe("failed");
  });

  it.each(["too_late", "unavailable", "nothing, because it cannot cancel"] as const)(
    "lets the task continue, and finish, if the provider answers %s",
    async (says) => {
      const id = await created();
      if (says === "too_late" || says === "unavailable") world.provider.play({ cancel: says });
      else Object.assign(world.provider, { cancel: undefined });
      expect(await cancel(id)).toMatchObject({ id, state: "submitted" });
      expect(await balance()).toBe(96);
      // Its next poll is due at once: it may have ended already.
      expect(await world.settle()).toBe(1);
      expect(await stateOf(id)).toBe("succeeded");
      const unavailable = {
        kind: "provider_unavailable",
        taskId: id,
        detail: "not canceled: the script is unavailable",
      };
      expect(world.reporter.of("provider_unavailable")).toEqual(says === "unavailable" ? [unavailable] : []);
      expect(world.reporter.of("work_failed")).toEqual([]);
    },
  );

  /** A creation that the provider has not answered yet. */
  const creating = async () => {
    const answer = world.provider.hold("submit");
    const created = world.createPanorama(owner, aCreationRequest());
    await world.clock.settled();
    const [task] = await world.tasks.list(owner, 1, undefined);
    return { id: task?.id as TaskId, created, answer };
  };

  it("waits for the answer to the submission of a submitting task, then cancels it", async () => {
    const { id, created, answer } = await creating();
    const canceling = cancel(id);
    await world.clock.settled();
    expect(world.provider.canceled.size).toBe(0);
    answer();
    expect((await created).isOk()).toBe(true);
    expect(await canceling).toMatchObject({ state: "failed", reason: "canceled" });
    expect(await balance()).toBe(100);
    expect(world.clock.sleeping).toBe(0);
  });

  it("returns a submitting task after 5 s; its first poll cancels it", async () => {
    const { id, created, answer } = await creating();
    const canceling = cancel(id);
    await world.clock.advance(5_000);
    expect(await canceling).toMatchObject({ id, state: "submitting" });
    answer();
    expect((await created).isOk()).toBe(true);
    await settle();
    expect(await end(id)).toBe("canceled");
    expect(await balance()).toBe(100);
  });

  it("never sends a task that returns to the queue after its owner has canceled it", async () => {
    world.provider.play({ submit: "busy" });
    const { id, created, answer } = await creating();
    const canceling = cancel(id);
    await world.clock.advance(5_000);
    expect(await canceling).toMatchObject({ id, state: "submitting" });
    answer();
    expect((await created)._unsafeUnwrap().task.state).toBe("queued");
    world.provider.play({ submit: "accept" });
    await world.start();
    expect(await end(id)).toBe("canceled");
    expect(world.reporter.of("task_failed")).toMatchObject([{ detail: "nothing was sent to the provider" }]);
    expect(world.provider.started).toBe(0);
    expect(await balance()).toBe(100);
  });

  it("looks again at a queued task that is started before it is canceled", async () => {
    const id = await queued();
    const { find } = world.tasks;
    world.tasks.find = async (...parameters) => {
      const found = await find.apply(world.tasks, parameters);
      world.tasks.find = find;
      world.provider.concurrencyMax = undefined;
      await world.start();
      return found;
    };
    expect(await cancel(id)).toMatchObject({ state: "failed", reason: "canceled" });
    expect(world.provider.wasCanceled(id)).toBe(true);
    expect(world.reporter.of("task_failed")).toHaveLength(1);
    expect(await balance()).toBe(96);
  });

  it("looks again at a submitted task that ends before its cancel is recorded", async () => {
    const id = await created();
    const { recordCancelRequest } = world.tasks;
    world.tasks.recordCancelRequest = async (...parameters) => {
      await settle();
      return recordCancelRequest.apply(world.tasks, parameters);
    };
    expect(await cancel(id)).toMatchObject({ id, state: "succeeded" });
    expect(world.provider.canceled.size).toBe(0);
  });

  it("finds within 500 ms an end that another process has stored without a signal", async () => {
    const id = await created();
    const answer = world.provider.hold("cancel");
    const signals: World["signals"] = Object.assign(Object.create(world.signals), { announce: () => {} });
    const first = useCases({ ...world, signals }).cancelTask(id, owner);
    await world.clock.settled();
    let second: Task | undefined;
    void cancel(id).then((task) => {
      second = task;
    });
    await world.clock.settled();
    answer();
    await first;
    await world.clock.advance(500);
    expect(second).toMatchObject({ id, state: "failed", reason: "canceled" });
  });

  it("leaves a task whose deadline has passed to its next poll", async () => {
    const id = await created();
    world.provider.play({ poll: "running" });
    await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS);
    const canceling = cancel(id);
    await world.clock.advance(5_000);
    expect(await canceling).toMatchObject({ id, state: "submitted" });
    expect(world.provider.canceled.size).toBe(0);
  });

  it("lets the task continue if the call to the provider throws, and reports the error", async () => {
    const id = await created();
    const error = new Error("a bug");
    Object.assign(world.provider, { cancel: () => Promise.reject(error) });
    expect(await cancel(id)).toMatchObject({ id, state: "submitted" });
    expect(world.reporter.of("work_failed")).toEqual([{ kind: "work_failed", work: "cancel", taskId: id, error }]);
  });

  it("returns the last read task if it is deleted meanwhile", async () => {
    const id = await created();
    world.provider.play({ cancel: "too_late" });
    const { move } = world.tasks;
    world.tasks.move = async (...parameters) => {
      world.tasks.move = move;
      await passLease();
      await settle();
      await world.deletePanorama(id, owner);
      return move.apply(world.tasks, parameters);
    };
    expect(await cancel(id)).toMatchObject({ id, state: "submitted" });
  });

  it("lets nobody poll while the provider is asked, and waits ten seconds for its answer", async () => {
    const id = await created();
    const release = world.provider.hold("cancel");
    const canceling = cancel(id);
    await world.clock.advance(9_999);
    expect(await world.settle()).toBe(0);
    await world.clock.advance(1);
    expect(await canceling).toMatchObject({ id, state: "submitted" });
    release();
    // The provider has stopped it nevertheless: the poll finds its end, and the wish says why.
    expect(await world.settle()).toBe(1);
    expect(await end(id)).toBe("canceled");
    expect(await balance()).toBe(100);
  });

  it("returns the current task after 5 s while another call has it", async () => {
    const id = await created();
    world.provider.hold("cancel");
    void cancel(id);
    await world.clock.settled();
    let answered = false;
    const second = cancel(id).finally(() => {
      answered = true;
    });
    await world.clock.advance(4_999);
    expect(answered).toBe(false);
    await world.clock.advance(1);
    expect(await second).toMatchObject({ id, state: "submitted" });
  });

  /** A poll that the provider has not answered yet. */
  const polling = async () => {
    await world.clock.advance(world.provider.nextPollMilliseconds());
    const answer = world.provider.hold("poll");
    const polled = world.poll();
    await world.clock.settled();
    return { polled, answer };
  };

  it("sets reason canceled if a running poll reports failed during the cancel", async () => {
    const id = await created();
    world.provider.play({ poll: "failed" });
    const { answer } = await polling();
    const canceling = cancel(id);
    await world.clock.settled();
    answer();
    await world.clock.advance(1_000);
    expect(await canceling).toMatchObject({ id, state: "failed", reason: "canceled" });
  });

  it("asks the provider at most once a minute and adds one poll per refusal", async () => {
    const run = async (cancels: boolean): Promise<{ asked: number; polls: number }> => {
      world = aWorld();
      owner = await anOwner(world, 100);
      world.provider.play({ poll: "running", cancel: "too_late" });
      const id = await created();
      const count = { asked: 0, polls: 0 };
      const { cancel: ask, poll } = world.provider;
      world.provider.cancel = (upstream) => {
        count.asked += 1;
        return ask.call(world.provider, upstream);
      };
      world.provider.poll = (upstream) => {
        count.polls += 1;
        return poll.call(world.provider, upstream);
      };
      for (let second = 0; second < 300; second += 1) {
        if (cancels) expect(await cancel(id)).toMatchObject({ id, state: "submitted" });
        await world.poll();
        await world.clock.advance(1_000);
      }
      return count;
    };
    const without = await run(false);
    expect(without).toEqual({ asked: 0, polls: 59 });
    const { asked, polls } = await run(true);
    expect(asked).toBe(5);
    expect(polls).toBeLessThanOrEqual(without.polls + asked);
  });

  it("returns not_found for a task of another account, an unknown and a deleted one", async () => {
    const id = await created();
    const stranger = await anOwner(world, 10);
    const notFound = (id: TaskId) => err({ kind: "not_found", message: `There is no task ${id} on this account.` });
    expect(await world.cancelTask(id, stranger)).toEqual(notFound(id));
    expect(await world.cancelTask("unknown" as TaskId, owner)).toEqual(notFound("unknown" as TaskId));
    await settle();
    await world.store();
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    expect(await world.cancelTask(id, owner)).toEqual(notFound(id));
    expect(await stateOf(await created())).toBe("submitted");
  });
});
