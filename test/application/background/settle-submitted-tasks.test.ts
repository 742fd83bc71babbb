import { beforeEach, describe, expect, it } from "vitest";
import type { AccountId } from "../../../domain/account.js";
import type { TaskId } from "../../../domain/task-id.js";
import { GENERATION_DEADLINE_MILLISECONDS, LEASE_MILLISECONDS, useCases } from "../../support/application.js";
import { aCreationRequest } from "../../support/builders.js";
import { PortGates } from "../../support/port-gates.js";
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
const nextLook = () => world.clock.advance(world.provider.nextPollMilliseconds());

describe("settling", () => {
  it("looks no sooner than the provider's pace allows", async () => {
    await world.clock.advance(world.provider.nextPollMilliseconds() - 1);
    expect(await world.settle()).toBe(0);
    await world.clock.advance(1);
    expect(await world.settle()).toBe(1);
    expect(await world.settle()).toBe(0);
  });

  it("of a finished generation spends the credits, and leaves its image to be kept at once", async () => {
    await nextLook();
    await world.settle();

    expect(await task()).toMatchObject({
      state: "succeeded",
      reservation: { state: "captured", credits: 4 },
      succeededAt: world.clock.now(),
      image: { status: "uploading", temporaryUrl: "https://temporary.example/upstream-1", failedAttempts: 0 },
    });
    expect(await balance()).toBe(96);
    expect(world.reporter.of("task_succeeded")).toEqual([{ kind: "task_succeeded", taskId: id, seconds: 5 }]);
    expect(await world.keep()).toBe(1);
  });

  it("of a failed generation refunds the credits, once", async () => {
    world.provider.play({ poll: "failed" });
    await nextLook();
    expect(await world.settle()).toBe(1);
    expect(await task()).toMatchObject({ state: "failed", reason: "generation_failed" });
    expect(await balance()).toBe(100);

    await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS);
    expect(await world.settle()).toBe(0);
    expect(await balance()).toBe(100);
  });

  it.each(["running", "unavailable"] as const)(
    "goes on looking while the provider says %s, and fails and refunds at the deadline",
    async (look) => {
      world.provider.play({ poll: look });
      await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS - 1);
      await world.settle();
      expect((await task()).state).toBe("submitted");

      await nextLook();
      await world.settle();
      expect(await task()).toMatchObject({ state: "failed", reason: "deadline_passed" });
      expect(await balance()).toBe(100);
      expect(world.reporter.of("provider_unavailable")).toHaveLength(look === "unavailable" ? 2 : 0);
    },
  );

  it("does not say of every task what is known: that the provider is down", async () => {
    world.provider.play({ poll: "unavailable" });
    world.provider.ready = "down";
    await nextLook();
    expect(await world.settle()).toBe(1);
    expect(world.reporter.of("provider_unavailable")).toEqual([]);
    expect((await task()).state).toBe("submitted");
  });

  it("looks once more before it gives up: what is finished at last counts, however late", async () => {
    await world.clock.advance(10 * GENERATION_DEADLINE_MILLISECONDS);
    await world.settle();
    expect((await task()).state).toBe("succeeded");
  });

  it("by two instances looks once", async () => {
    await nextLook();
    expect((await Promise.all([world.settle(), world.settle()])).sort()).toEqual([0, 1]);
    expect(world.reporter.of("task_succeeded")).toHaveLength(1);
  });

  it("by one whose lease has run out changes nothing any more", async () => {
    await nextLook();
    world.provider.play({ poll: "running" });
    const answer = world.provider.hold("poll");
    const stopping = new AbortController();
    const slow = world.settle(stopping.signal);
    stopping.abort(); // it does not take its own task again
    await world.clock.advance(GENERATION_DEADLINE_MILLISECONDS);
    const gates = new PortGates();
    const successor = useCases({ ...world, provider: gates.guard(world.provider, { losable: false }) }).settle();
    await world.clock.advance(0); // the successor holds the lease, and has not looked yet
    answer();
    await slow;
    expect((await task()).state).toBe("submitted");

    world.provider.play({ poll: "succeeded" });
    await gates.letGo(0);
    await successor;
    expect((await task()).state).toBe("succeeded");
    expect(await balance()).toBe(96);
  });

  it("of one task that goes wrong is reported, and does not keep the others from being settled", async () => {
    for (let n = 0; n < 3; n += 1) await world.createPanorama(owner, aCreationRequest());
    const broken = new Error("a bug");
    const { poll } = world.provider;
    world.provider.poll = (upstreamTaskId) =>
      upstreamTaskId === "upstream-1" ? Promise.reject(broken) : poll.call(world.provider, upstreamTaskId);
    await nextLook();

    expect(await world.settle()).toBe(4);
    expect(world.reporter.of("work_failed")).toEqual([
      { kind: "work_failed", work: "settle", taskId: id, error: broken },
    ]);
    expect(world.reporter.of("task_succeeded")).toHaveLength(3);

    world.provider.poll = poll;
    await world.clock.advance(LEASE_MILLISECONDS);
    await world.settle();
    expect((await task()).state).toBe("succeeded");
  });
});
