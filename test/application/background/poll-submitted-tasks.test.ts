import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest, noon } from "../../../adapters/contracts/support/builders.js";
import type { AccountId, TaskId } from "../../../domain/ids.js";
import type { SubmittedTask, Task } from "../../../domain/tasks/task.js";
import { GENERATION_DEADLINE_MILLISECONDS, LEASE_MILLISECONDS } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

let world: World;
let owner: AccountId;
let id: TaskId;

beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
  id = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task.id;
});

const task = async () => (await world.readTask(id, owner))._unsafeUnwrap();
const balance = () => world.ledger.balance(owner);
const nextPoll = () => world.clock.advance(world.provider.nextPollMilliseconds());
const leaseFromNow = () => new Date(world.clock.now().getTime() + LEASE_MILLISECONDS);

describe("pollSubmittedTasks", () => {
  it("does not poll before the provider's next poll time", async () => {
    await world.clock.advance(world.provider.nextPollMilliseconds() - 1);
    expect(await world.settle()).toBe(0);
    await world.clock.advance(1);
    expect(await world.settle()).toBe(1);
    expect(await world.settle()).toBe(0);
  });

  it("holds the credits of a finished generation, and its result is due to be checked immediately", async () => {
    await nextPoll();
    expect(await world.poll()).toBe(1);

    expect(await task()).toMatchObject({
      state: "generated",
      reservation: { state: "held", credits: 4 },
      temporaryUrl: "https://temporary.example/upstream-1",
    });
    expect(await balance()).toBe(96);
    expect(world.reporter.of("task_succeeded")).toEqual([]);
    expect(world.provider.downloads).toBe(0);
    expect([await world.poll(), await world.check()]).toEqual([0, 1]);
    expect((await task()).state).toBe("succeeded");
  });

  it.each([
    ["failed", "generation_failed"],
    ["content_refused", "content_refused"],
    ["reference_unreachable", "reference_unreachable"],
    ["reference_unusable", "reference_unusable"],
    ["never_started", "never_started"],
    ["deadline_passed", "deadline_passed"],
    ["provider_unavailable", "provider_unavailable"],
    ["unusable_result", "unusable_result"],
  ] as const)("refunds a generation once that ends as %s, with the reason", async (poll, reason) => {
    world.provider.play({ poll });
    await nextPoll();
    expect(await world.settle()).toBe(1);
    expect(await task()).toMatchObject({ state: "failed", reason });
    expect(await balance()).toBe(100);
    expect(world.reporter.of("task_failed")).toMatchObject([
      { taskId: id, provider: "scripted", reason, detail: "the script fails" },
    ]);

    await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS);
    expect(await world.settle()).toBe(0);
    expect(await balance()).toBe(100);
  });

  it.each(["running", "unavailable"] as const)(
    "polls while the provider answers %s, and fails and refunds the task at the deadline",
    async (poll) => {
      world.provider.play({ poll });
      const lease = vi.spyOn(world.tasks, "moveWithinLease");
      await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS - 1);
      await world.settle();
      expect((await task()).state).toBe("submitted");

      await nextPoll();
      await world.settle();
      expect(await task()).toMatchObject({ state: "failed", reason: "deadline_passed" });
      expect(await balance()).toBe(100);
      const unavailable = { kind: "provider_unavailable", taskId: id, detail: "the script is unavailable" };
      expect(world.reporter.of("provider_unavailable")).toEqual(
        poll === "unavailable" ? [unavailable, unavailable] : [],
      );
      expect(world.reporter.of("task_failed")).toMatchObject([{ taskId: id, detail: "still running after 600000 ms" }]);
      // Nobody polls it while the provider is asked to stop it.
      expect(lease.mock.calls.map(([, , until]) => until)).toEqual([leaseFromNow()]);
      expect(world.provider.wasCanceled(id)).toBe(true);
    },
  );

  it("stores which reference image the provider could not use, and why", async () => {
    const fault = { imageIndex: 1, imageProblem: "it has more than 10 MiB" };
    world.provider.poll = async () => ok({ state: "failed", cause: "reference_unusable", reason: "why", ...fault });
    await nextPoll();
    await world.settle();
    expect(await task()).toMatchObject({ state: "failed", reason: "reference_unusable", ...fault });
  });

  it("does not report every task as unavailable while the provider is known to be down", async () => {
    world.provider.play({ poll: "unavailable" });
    world.provider.ready = "down";
    await nextPoll();
    expect(await world.settle()).toBe(1);
    expect(world.reporter.of("provider_unavailable")).toEqual([]);
    expect((await task()).state).toBe("submitted");
  });

  it("polls once more after the deadline, and a generation that has finished by then succeeds", async () => {
    await world.clock.advance(10 * GENERATION_DEADLINE_MILLISECONDS);
    await world.settle();
    expect((await task()).state).toBe("succeeded");
  });

  it.each([
    [60_000, false],
    [60_001, true],
  ])(
    "with a submission %i ms in the future, after the clock was set back: restarts its age: %s",
    async (milliseconds, restarts) => {
      const before = await task();
      world.provider.play({ poll: "running" });
      world.clock.setBack(milliseconds);
      await world.tasks.makeDueNow(id, world.clock.now());
      const lease = vi.spyOn(world.tasks, "moveWithinLease");
      expect(await world.settle()).toBe(1);
      expect(lease.mock.calls.map(([, , until]) => until)).toEqual(restarts ? [leaseFromNow()] : []);
      expect(world.reporter.of("work_failed")).toEqual([]);
      const submittedAt = restarts ? world.clock.now() : noon;
      expect(await task()).toEqual({ ...before, submittedAt });
    },
  );

  it("reports the error of one task and settles the others", async () => {
    for (let n = 0; n < 3; n += 1) await world.createPanorama(owner, aCreationRequest());
    const broken = new Error("a bug");
    const { poll } = world.provider;
    world.provider.poll = (upstreamTaskId) =>
      upstreamTaskId === "upstream-1" ? Promise.reject(broken) : poll.call(world.provider, upstreamTaskId);
    await nextPoll();

    expect(await world.settle()).toBe(4);
    expect(world.reporter.of("work_failed")).toEqual([
      { kind: "work_failed", work: "poll", taskId: id, error: broken },
    ]);
    expect(world.reporter.of("task_succeeded")).toHaveLength(3);

    world.provider.poll = poll;
    await world.clock.advance(LEASE_MILLISECONDS);
    await world.settle();
    expect((await task()).state).toBe("succeeded");
  });

  it.each([
    ["the provider cannot be asked", () => (world.provider.poll = () => Promise.reject(broken))],
    ["the result cannot be stored", () => rejectMoves("generated")],
  ])("fails and refunds the task at the deadline, not earlier, if %s because of an error", async (_, breakIt) => {
    breakIt();
    await nextPoll();
    await world.settle();
    expect((await task()).state).toBe("submitted");

    await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS - world.provider.nextPollMilliseconds());
    await world.settle();
    expect(await task()).toMatchObject({ state: "failed", reason: "deadline_passed" });
    expect(await balance()).toBe(100);
    expect(world.reporter.of("work_failed")).toEqual(
      Array(2).fill({ kind: "work_failed", work: "poll", taskId: id, error: broken }),
    );
    expect(world.reporter.of("task_failed")).toHaveLength(1);
  });

  it("stores the result's URL as new URL() writes it", async () => {
    answerWith("HTTPS://Temporary.example/a\u0000b c?\u{1f30a}");
    await nextPoll();
    await world.settle();
    expect(await task()).toMatchObject({
      state: "succeeded",
      image: { temporaryUrl: "https://temporary.example/a%00b%20c?%F0%9F%8C%8A" },
    });
  });

  it.each(["", "a picture", "javascript:alert(1)", "data:image/png;base64,AAAA", "https://"])(
    "fails and refunds a generation whose result is %j",
    async (url) => {
      answerWith(url);
      await nextPoll();
      await world.settle();
      expect(await task()).toMatchObject({ state: "failed", reason: "unusable_result" });
      expect(await balance()).toBe(100);
      const detail = "the provider's result is not a URL that can be downloaded";
      expect(world.reporter.of("task_failed")).toMatchObject([{ taskId: id, detail }]);
    },
  );

  it.each([
    ["stops", "failed", 0],
    ["too_late", "succeeded", 1],
  ] as const)("carries out a cancel before its poll; the provider answers %s", async (cancel, state, polls) => {
    world.provider.play({ cancel });
    await world.tasks.recordCancelRequest((await task()) as SubmittedTask, world.clock.now());
    const lease = vi.spyOn(world.tasks, "moveWithinLease");
    const poll = vi.spyOn(world.provider, "poll");
    expect(await world.poll()).toBe(1);
    expect(poll).toHaveBeenCalledTimes(polls);
    expect(lease.mock.calls.map(([, , until]) => until)).toEqual(Array(polls).fill(leaseFromNow()));
    await world.check();
    expect((await task()).state).toBe(state);
  });

  it.each([
    ["stop a generation at the deadline", () => world.clock.advance(GENERATION_DEADLINE_MILLISECONDS), 1],
    ["poll after the clock was set back", async () => world.clock.setBack(GENERATION_DEADLINE_MILLISECONDS), 0],
    [
      "poll after a cancel",
      async () => world.tasks.recordCancelRequest((await task()) as SubmittedTask, world.clock.now()),
      0,
    ],
  ] as const)("does not %s if another worker has claimed the task meanwhile", async (_, prepare, polls) => {
    world.provider.play({ poll: "running", cancel: "too_late" });
    await prepare();
    await world.tasks.makeDueNow(id, world.clock.now());
    world.tasks.moveWithinLease = async () => err({ kind: "stale_task", id });
    const poll = vi.spyOn(world.provider, "poll");
    expect(await world.settle()).toBe(1);
    expect(poll).toHaveBeenCalledTimes(polls);
    expect([(await task()).state, world.provider.canceled.size]).toEqual(["submitted", 0]);
    expect(world.reporter.of("work_failed")).toEqual([]);
  });

  it("polls at the deadline even if the provider's next poll would be later", async () => {
    world.provider.play({ poll: "running" });
    await nextPoll();
    world.provider.nextPollMilliseconds = () => 10 * GENERATION_DEADLINE_MILLISECONDS;
    await world.settle();
    await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS - 5_000);
    expect(await world.settle()).toBe(1);
    expect(await task()).toMatchObject({ state: "failed", reason: "deadline_passed" });
  });

  const broken = new Error("a bug");
  const answerWith = (temporaryUrl: string) => {
    world.provider.poll = async () => ok({ state: "succeeded", temporaryUrl });
  };
  /** The store throws when a task enters this state. */
  const rejectMoves = (state: Task["state"]) => {
    const { move } = world.tasks;
    world.tasks.move = (current, next, dueAt) =>
      next.state === state ? Promise.reject(broken) : move.call(world.tasks, current, next, dueAt);
  };
});
