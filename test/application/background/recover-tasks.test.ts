import { ok } from "neverthrow";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import type { AccountId } from "../../../domain/ids.js";
import type { Task } from "../../../domain/tasks/task.js";
import { QUEUE_DEADLINE_MILLISECONDS, SUBMISSION_DEADLINE_MILLISECONDS, useCases } from "../../support/application.js";
import { PortGates } from "../../support/port-gates.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;

beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

/** Kills a process after this many port calls of its creation: 1 reserves, 2 submits, 3 records the answer. */
const killAfter = async (calls: number) => {
  const gates = new PortGates(world.clock);
  const tasks = gates.guard(world.tasks);
  const provider = gates.guard(world.provider);
  const creation = useCases({ ...world, tasks, provider }).createPanorama(owner, aCreationRequest());
  for (let call = 0; call < calls; call += 1) await gates.resume();
  gates.kill();
  return { gates, creation };
};

const onlyTask = async () => (await world.tasks.list(owner, 10, undefined))[0];
const balance = () => world.ledger.balance(owner);
const afterTheDeadline = async () => {
  await world.clock.advance(SUBMISSION_DEADLINE_MILLISECONDS);
  return world.recover();
};

describe("recover", () => {
  it("does not touch a submission before its deadline", async () => {
    await killAfter(1);
    await world.clock.advance(SUBMISSION_DEADLINE_MILLISECONDS - 1);
    expect(await world.recover()).toBe(0);
    expect(await onlyTask()).toMatchObject({ state: "submitting" });
    expect(await balance()).toBe(96);
  });

  it("returns a task to the queue that was never submitted because the process was killed", async () => {
    await killAfter(1);
    expect(await afterTheDeadline()).toBe(1);
    expect(await onlyTask()).toMatchObject({ state: "queued", submissions: 1 });
    expect(await balance()).toBe(96);
    expect(world.reporter.of("task_requeued")).toMatchObject([{ detail: "the provider has no such task" }]);
    expect(world.reporter.of("possible_orphan")).toEqual([]);
    expect(await world.recover()).toBe(0);
    expect(await world.start()).toBe(1);
    expect(await onlyTask()).toMatchObject({ state: "submitted" });
    expect(world.provider.started).toBe(1);
  });

  it("fails and refunds a never-sent task after the queue deadline", async () => {
    await killAfter(1);
    await world.clock.advance(QUEUE_DEADLINE_MILLISECONDS);
    expect(await world.recover()).toBe(1);
    expect(await onlyTask()).toMatchObject({ state: "failed", reason: "never_submitted" });
    expect(await balance()).toBe(100);
    expect(world.reporter.of("possible_orphan")).toEqual([]);
    expect(world.reporter.of("task_failed")).toMatchObject([{ detail: "the provider has no such task" }]);
  });

  it("finds the upstream task when the process was killed before it recorded the answer, and the task succeeds", async () => {
    await killAfter(2);
    expect(world.provider.started).toBe(1);
    await afterTheDeadline();
    expect(await onlyTask()).toMatchObject({ state: "submitted", upstreamTaskId: "upstream-1" });
    expect(world.reporter.of("submission_recovered")).toHaveLength(1);

    expect(await world.settle()).toBe(1);
    expect(await onlyTask()).toMatchObject({ state: "succeeded" });
    expect(await balance()).toBe(96);
    expect(world.provider.started).toBe(1);
  });

  it.each(["nothing", "unavailable"] as const)(
    "refunds an unclear submission if the search gives %s",
    async (search) => {
      world.provider.play({ search });
      await killAfter(2);
      await afterTheDeadline();
      expect(await onlyTask()).toMatchObject({ state: "failed", reason: "never_submitted" });
      expect(await balance()).toBe(100);
      expect(world.reporter.of("possible_orphan")).toMatchObject([{ detail: "the script is unavailable" }]);
    },
  );

  it.each([
    ["found", undefined],
    ["not found", async () => ok(undefined)],
  ] as const)("reports nothing if the answer is recorded before the recovery has %s", async (_, search) => {
    const answer = world.provider.hold("submit");
    const creation = world.createPanorama(owner, aCreationRequest());
    await world.clock.advance(SUBMISSION_DEADLINE_MILLISECONDS);
    if (search !== undefined) world.provider.search = search;
    const searched = world.provider.search;
    world.provider.search = async (...parameters) => {
      const found = await searched.apply(world.provider, parameters);
      answer();
      await creation;
      return found;
    };
    expect(await world.recover()).toBe(1);
    expect(await onlyTask()).toMatchObject({ state: "submitted", upstreamTaskId: "upstream-1" });
    expect(world.reporter.events.map(({ kind }) => kind)).toEqual(["task_submitted"]);
  });

  it("resets impossible due times and gives queued and submitting tasks a new deadline", async () => {
    const now = world.clock.now().getTime();
    const bounds: Record<string, readonly [number, number]> = {};
    world.tasks.bringForward = async (work, boundsNow) => {
      const { latest, dueAt } = boundsNow();
      bounds[work] = [latest.getTime() - now, dueAt.getTime() - now];
    };
    const forget = vi.spyOn(world.tasks, "forgetIdempotencyKeys");
    await world.recover();
    expect(forget).toHaveBeenCalledExactlyOnceWith(new Date(world.clock.now().getTime() - 24 * 60 * 60 * 1000));
    expect(bounds).toEqual({
      giveUp: [360_000, 300_000],
      recover: [180_000, 120_000],
      poll: [180_000, 0],
      check: [180_000, 0],
      store: [660_000, 0],
      erase: [660_000, 0],
    });
  });

  it("stops nothing if the answer is recorded although the recovery cannot record it", async () => {
    const answer = world.provider.hold("submit");
    const creation = world.createPanorama(owner, aCreationRequest());
    await world.clock.advance(SUBMISSION_DEADLINE_MILLISECONDS);
    world.provider.cancel = () => Promise.reject(new Error("must not be called"));
    const searched = world.provider.search;
    world.provider.search = async (...parameters) => {
      const found = await searched.apply(world.provider, parameters);
      answer();
      await creation;
      rejectMoves("submitted");
      return found;
    };
    await world.recover();
    expect(await onlyTask()).toMatchObject({ state: "submitted", upstreamTaskId: "upstream-1" });
    expect(world.reporter.of("work_failed")).toMatchObject([{ work: "recover" }]);
  });

  it.each([
    ["the search throws", () => (world.provider.search = () => Promise.reject(broken)), []],
    ["the upstream task id cannot be stored", () => rejectMoves("submitted"), ["upstream-1 of a failed task"]],
  ])("fails and refunds the task at the deadline if %s", async (_, breakIt, stopped) => {
    await killAfter(2);
    breakIt();
    const canceled: string[] = [];
    world.provider.cancel = async (upstreamTaskId) => {
      canceled.push(`${upstreamTaskId} of a ${(await onlyTask())?.state} task`);
      return ok("canceled");
    };
    expect(await afterTheDeadline()).toBe(1);
    expect(await onlyTask()).toMatchObject({ state: "failed", reason: "never_submitted" });
    expect(await balance()).toBe(100);
    expect(world.reporter.of("work_failed")).toMatchObject([{ work: "recover", error: broken }]);
    const detail = "the search or its record threw an error";
    expect(world.reporter.of("possible_orphan")).toMatchObject([{ detail }]);
    expect(canceled).toEqual(stopped);
    expect(await world.recover()).toBe(0);
  });

  it.each(["bringForward", "forgetIdempotencyKeys"] as const)("resolves tasks even if %s throws", async (method) => {
    await killAfter(1);
    world.tasks[method] = () => Promise.reject(broken);
    await expect(afterTheDeadline()).rejects.toBe(broken);
    expect(await onlyTask()).toMatchObject({ state: "queued", submissions: 1 });
  });

  it("fails expired queued tasks even if the claim of submitting tasks throws", async () => {
    world.provider.concurrencyMax = 0;
    (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap();
    const { claim } = world.tasks;
    const claimOthers: typeof claim = (work, ...others) =>
      work === "recover" ? Promise.reject(broken) : (claim.call(world.tasks, work, ...others) as never);
    world.tasks.claim = claimOthers;
    await world.clock.advance(QUEUE_DEADLINE_MILLISECONDS);
    await expect(world.recover()).rejects.toBe(broken);
    expect(await onlyTask()).toMatchObject({ state: "failed", reason: "never_started" });
    const detail = "no slot of the provider became free in time";
    expect(world.reporter.of("task_failed")).toMatchObject([{ reason: "never_started", detail }]);
  });

  const broken = new Error("a bug");
  /** The store throws when a task enters this state. */
  const rejectMoves = (state: Task["state"]) => {
    const { move } = world.tasks;
    world.tasks.move = (current, next, dueAt) =>
      next.state === state ? Promise.reject(broken) : move.call(world.tasks, current, next, dueAt);
  };
});
