import fc from "fast-check";
import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/builders.js";
import { settled } from "../../../adapters/memory/settled.js";
import type { AccountId } from "../../../domain/account.js";
import { audit } from "../../../domain/ledger.js";
import type { TaskId } from "../../../domain/task-id.js";
import { LEASE_MILLISECONDS, useCases } from "../../support/application.js";
import { PortGates } from "../../support/port-gates.js";
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
      { kind: "task_failed", taskId: id, reason: "canceled", detail: "the provider has stopped it" },
    ]);
    expect(await cancel(id)).toEqual(before);
    expect(await balance()).toBe(100);
    await settle();
    expect(await stateOf(id)).toBe("failed");
  });

  it.each(["too_late", "unavailable"] as const)(
    "lets the task go on, and finish, if the provider says %s",
    async (says) => {
      const id = await created();
      world.provider.play({ cancel: says });
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
    },
  );

  it("lets the task go on at a provider that cannot cancel", async () => {
    const id = await created();
    Object.assign(world.provider, { cancel: undefined });
    expect(await cancel(id)).toMatchObject({ id, state: "submitted" });
    expect(await balance()).toBe(96);
  });

  it("returns a reserved task unchanged, and cancels it when its submission is answered", async () => {
    const release = world.provider.hold("submit");
    const creating = world.createPanorama(owner, aCreationRequest());
    const [task] = await world.tasks.list(owner, 1, undefined);
    const id = task?.id as TaskId;
    expect(await cancel(id)).toMatchObject({ id, state: "reserved" });
    expect(world.provider.canceled.size).toBe(0);
    release();
    expect((await creating).isOk()).toBe(true);
    expect(await cancel(id)).toMatchObject({ state: "failed", reason: "canceled" });
    expect(await balance()).toBe(100);
  });

  it.each(["succeeded", "failed"] as const)("returns a task that has %s unchanged", async (state) => {
    const id = await created();
    world.provider.play({ poll: state });
    await settle();
    expect(await cancel(id)).toMatchObject({ id, state });
    expect(await cancel(id)).not.toMatchObject({ reason: "canceled" });
    expect(await balance()).toBe(state === "succeeded" ? 96 : 100);
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

  it("returns the task as it was read if it is deleted while the provider is asked", async () => {
    const id = await created();
    const release = world.provider.hold("cancel");
    world.provider.play({ cancel: "too_late" });
    const canceling = cancel(id);
    await settled();
    await passLease();
    await settle();
    await world.deletePanorama(id, owner);
    release();
    expect(await canceling).toMatchObject({ id, state: "submitted" });
  });

  it("lets nobody poll while the provider is asked; after a crash it is polled again when the lease has expired", async () => {
    const id = await created();
    world.provider.play({ cancel: "too_late" });
    world.provider.hold("cancel"); // for ever, as if the process was killed
    void cancel(id);
    await settled();
    await world.clock.advance(LEASE_MILLISECONDS - 1);
    expect(await world.settle()).toBe(0);
    expect(await stateOf(id)).toBe("submitted");
    await world.clock.advance(1);
    expect(await world.settle()).toBe(1);
    expect(await stateOf(id)).toBe("succeeded");
    expect(await balance()).toBe(96);
  });

  it("ignores what a poll finds that was under way before, because it does not see why the generation has ended", async () => {
    const id = await created();
    await world.clock.advance(world.provider.nextPollMilliseconds());
    const releasePoll = world.provider.hold("poll");
    world.provider.play({ poll: "running" });
    const polling = world.settle();
    await settled();
    const releaseCancel = world.provider.hold("cancel");
    const canceling = cancel(id);
    await settled();
    releasePoll();
    expect(await polling).toBe(1);
    releaseCancel();
    expect(await canceling).toMatchObject({ id, state: "failed", reason: "canceled" });
    expect(await balance()).toBe(100);
  });

  it("returns the finished task if it succeeds while the provider is asked for longer than the lease", async () => {
    const id = await created();
    const release = world.provider.hold("cancel");
    world.provider.play({ cancel: "too_late" });
    const canceling = cancel(id);
    await settled();
    await passLease();
    await settle();
    expect(await stateOf(id)).toBe("succeeded");
    release();
    expect(await canceling).toMatchObject({ id, state: "succeeded" });
    expect(await balance()).toBe(96);
  });

  it("refunds once if a poll finds the end of the generation after the lease has expired", async () => {
    const id = await created();
    const release = world.provider.hold("cancel");
    const canceling = cancel(id);
    await settled();
    await passLease();
    await settle();
    release();
    expect(await canceling).toMatchObject({ id, state: "failed", reason: "generation_failed" });
    expect(await balance()).toBe(100);
  });

  it("is the reason of the end whenever the provider has stopped it, however calls, polls and kills interleave", async () => {
    const seen = new Set<string>();
    const step = fc.oneof(
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("cancel" as const), instance: fc.nat(1) }) },
      { weight: 4, arbitrary: fc.record({ kind: fc.constant("poll" as const), instance: fc.nat(2) }) },
      {
        weight: 12,
        arbitrary: fc.record({ kind: fc.constant("resume" as const), instance: fc.nat(2), call: fc.nat() }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("finish" as const), instance: fc.nat(2) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill" as const), instance: fc.nat(2) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("pass" as const), instance: fc.constant(0) }) },
    );
    const scripts = fc.record({
      cancel: fc.constantFrom("stops" as const, "stops" as const, "too_late" as const),
      poll: fc.constantFrom("running" as const, "running" as const, "succeeded" as const),
    });
    await fc.assert(
      fc.asyncProperty(scripts, fc.array(step, { maxLength: 50, size: "max" }), async (script, steps) => {
        world = aWorld();
        owner = await anOwner(world, 100);
        world.provider.play(script);
        const id = await created();
        const instances = Array.from({ length: 3 }, () => {
          const gates = new PortGates();
          const tasks = gates.guard(world.tasks, { losable: false });
          const provider = gates.guard(world.provider, { losable: false });
          return { gates, useCases: useCases({ ...world, tasks, provider }) };
        });
        const finish = async ({ gates }: (typeof instances)[number]) => {
          while (gates.halted > 0) await gates.resumeAll();
        };
        let wasKilled = false; // while it canceled
        let passed = 0;
        const pass = async (milliseconds: number) => {
          passed += milliseconds;
          await world.clock.advance(milliseconds);
        };
        for (const step of steps) {
          const instance = instances[step.instance] as (typeof instances)[number];
          if (step.kind === "cancel") void instance.useCases.cancelTask(id, owner);
          else if (step.kind === "poll") {
            await pass(world.provider.nextPollMilliseconds());
            void instance.useCases.settle();
            await settled();
          } else if (step.kind === "resume") await instance.gates.resume(step.call);
          else if (step.kind === "finish") await finish(instance);
          else if (step.kind === "kill") {
            wasKilled ||= instance.gates.halted > 0;
            instance.gates.kill();
          } else await pass(LEASE_MILLISECONDS);
        }
        for (const instance of instances) await finish(instance);
        await world.clock.advance(LEASE_MILLISECONDS);
        world.provider.play({ poll: "succeeded" });
        await world.settle();
        const task = (await world.readTask(id, owner))._unsafeUnwrap();
        const end = task.state === "failed" ? task.reason : task.state;
        expect(["succeeded", "canceled", "generation_failed", "deadline_passed"]).toContain(end);
        if (!wasKilled && passed < LEASE_MILLISECONDS && world.provider.wasCanceled(id)) expect(end).toBe("canceled");
        expect(await balance()).toBe(end === "succeeded" ? 96 : 100);
        seen.add(end);
      }),
      { numRuns: 400 },
    );
    for (const end of ["canceled", "succeeded"]) expect([...seen]).toContain(end);
  });

  it("wakes a caller that waits for the task", async () => {
    const id = await created();
    const waiting = world.waitForTask(id, owner, 30_000, new AbortController().signal);
    while (world.clock.sleeping === 0) await Promise.resolve();
    await cancel(id);
    expect((await waiting)._unsafeUnwrap()).toMatchObject({ state: "failed", reason: "canceled" });
  });

  it("frees the account's slot and the provider's slot", async () => {
    const id = await queued();
    const [running] = (await world.tasks.list(owner, 9, undefined)).filter((task) => task.id !== id);
    await cancel(running?.id as TaskId);
    expect(await world.start()).toBe(1);
    expect(await stateOf(id)).toBe("submitted");
    for await (const { standing, entries, tasks } of world.ledger.all()) {
      expect(audit(standing, entries, tasks)).toEqual([]);
      expect(standing.activeTasks).toBe(1);
    }
  });

  it("keeps the idempotency key: a repeated creation is the canceled task", async () => {
    const create = () => world.createPanorama(owner, aCreationRequest(), "key-1" as never);
    const { id } = (await create())._unsafeUnwrap().task;
    await cancel(id);
    expect((await create())._unsafeUnwrap()).toMatchObject({ replayed: true, task: { id, state: "failed" } });
  });

  it("is not_found for a task of another account, an unknown and a deleted one", async () => {
    const id = await created();
    const stranger = await anOwner(world, 10);
    const notFound = (id: TaskId) => err({ kind: "not_found", message: `There is no task ${id} on this account.` });
    expect(await world.cancelTask(id, stranger)).toEqual(notFound(id));
    expect(await world.cancelTask("unknown" as TaskId, owner)).toEqual(notFound("unknown" as TaskId));
    await settle();
    await world.keep();
    expect(await world.deletePanorama(id, owner)).toEqual(ok(undefined));
    expect(await world.cancelTask(id, owner)).toEqual(notFound(id));
    expect(await stateOf(await created())).toBe("submitted");
  });
});
