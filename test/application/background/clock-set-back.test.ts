import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { queueDeadlineOf } from "../../../application/panoramas/submit-task.js";
import type { AccountId } from "../../../domain/ids.js";
import { isInProgress, type Task } from "../../../domain/tasks/task.js";
import { GENERATION_DEADLINE_MILLISECONDS, QUEUE_DEADLINE_MILLISECONDS, useCases } from "../../support/application.js";
import { PortGates } from "../../support/port-gates.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const MINUTE_MILLISECONDS = 60_000;
const DAY_MILLISECONDS = 24 * 60 * MINUTE_MILLISECONDS;

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

const create = async (): Promise<Task> => (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task;
const stored = () => world.tasks.list(owner, 9, undefined);
const states = async () => (await stored()).map(({ state }) => state).sort();

/**
 * Four tasks: one whose image is being stored, one that runs, one whose submission was killed, and one in the queue.
 */
const oneOfEachKind = async () => {
  await create();
  await world.clock.advance(world.provider.nextPollMilliseconds());
  await world.settle();
  world.provider.play({ poll: "running" });
  await create();
  const gates = new PortGates(world.clock);
  const killed = useCases({ ...world, tasks: gates.guard(world.tasks, { losable: false }) });
  void killed.createPanorama(owner, aCreationRequest());
  await gates.resume(0);
  gates.kill();
  world.provider.concurrencyMax = 2;
  await create();
  expect(await states()).toEqual(["queued", "submitted", "submitting", "succeeded"]);
};

describe("after the clock was set back", () => {
  it("every task ends within the deadlines, however far it was set back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 3 * DAY_MILLISECONDS }), fc.boolean(), async (milliseconds, claimed) => {
        world = aWorld();
        owner = await anOwner(world, 100);
        await oneOfEachKind();
        if (claimed) {
          // An instance that was killed holds the leases.
          for (const work of ["settle", "keep"] as const) {
            const { now, until } = { now: world.clock.now(), until: new Date(world.clock.now().getTime() + 120_000) };
            await world.tasks.claim(work, now, until, 9);
          }
        }
        world.clock.setBack(milliseconds);
        const longest = 2 * GENERATION_DEADLINE_MILLISECONDS;
        for (let passed = 0; passed < longest; passed += 20_000) {
          await world.sweep();
          await world.settle();
          await world.keep();
          await world.clock.advance(20_000);
        }
        expect((await stored()).filter(isInProgress)).toEqual([]);
        expect(await states()).toEqual(["failed", "failed", "failed", "succeeded"]);
        expect(await world.ledger.balance(owner)).toBe(96);
      }),
      { numRuns: 30 },
    );
  });

  it("polls and stores images at once, and gives a task in the queue its time", async () => {
    await oneOfEachKind();
    world.clock.setBack(DAY_MILLISECONDS);
    world.provider.play({ poll: "succeeded" });
    await world.sweep();
    await world.settle();
    await world.keep();
    expect(await states()).toEqual(["queued", "submitting", "succeeded", "succeeded"]);
    expect((await stored()).filter(isInProgress).map(({ state }) => state)).toEqual(["queued", "submitting"]);
    expect(await world.start()).toBe(1);
  });

  it("fails a task in the queue at its deadline, counted from then", async () => {
    await oneOfEachKind();
    world.clock.setBack(DAY_MILLISECONDS);
    await world.sweep();
    await world.clock.advance(QUEUE_DEADLINE_MILLISECONDS - 1);
    await world.sweep();
    expect(await states()).toContain("queued");
    await world.clock.advance(1);
    await world.sweep();
    expect(await states()).not.toContain("queued");
  });

  it("fails a task that a busy provider sends back to the queue again and again", async () => {
    world.provider.play({ submit: "busy" });
    await create();
    world.clock.setBack(DAY_MILLISECONDS);
    for (let passed = 0; passed < 2 * QUEUE_DEADLINE_MILLISECONDS; passed += 20_000) {
      await world.sweep();
      await world.start();
      await world.clock.advance(20_000);
    }
    expect(await states()).toEqual(["failed"]);
    expect(await world.ledger.balance(owner)).toBe(100);
  });

  it("counts the queue deadline from a reservation that lies up to a minute in the future, as clocks differ", () => {
    const now = new Date("2026-01-01T12:00:00.000Z");
    const deadline = (milliseconds: number) =>
      queueDeadlineOf(
        { reservedAt: new Date(now.getTime() + milliseconds) },
        { queueDeadlineMilliseconds: QUEUE_DEADLINE_MILLISECONDS },
        now,
      ).getTime() - now.getTime();
    expect(deadline(-1)).toBe(QUEUE_DEADLINE_MILLISECONDS - 1);
    expect(deadline(MINUTE_MILLISECONDS)).toBe(QUEUE_DEADLINE_MILLISECONDS + MINUTE_MILLISECONDS);
    expect(deadline(MINUTE_MILLISECONDS + 1)).toBe(0);
  });

  it("takes no lease of another instance whose clock is a little ahead", async () => {
    await oneOfEachKind();
    await world.clock.advance(2 * MINUTE_MILLISECONDS);
    await world.sweep();
    const until = new Date(world.clock.now().getTime() + 2 * MINUTE_MILLISECONDS);
    expect(await world.tasks.claim("settle", world.clock.now(), until, 9)).toHaveLength(2);
    world.clock.setBack(10_000);
    await world.sweep();
    expect(await world.settle()).toBe(0);
  });
});
