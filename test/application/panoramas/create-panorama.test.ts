import { err } from "neverthrow";
import { describe, expect, it } from "vitest";
import { credits } from "../../../domain/credits.js";
import type { IdempotencyKey } from "../../../domain/idempotency.js";
import type { TaskId } from "../../../domain/task-id.js";
import { SUBMISSION_DEADLINE_MILLISECONDS } from "../../support/application.js";
import { aCreationRequest } from "../../support/builders.js";
import { createsFiftyAtOnce } from "../../support/fifty-creations.js";
import { anOwner, aWorld } from "../../support/world.js";

const key = "order-4711" as IdempotencyKey;
const lake = aCreationRequest({ prompt: "a quiet lake" });
const forest = aCreationRequest({ prompt: "a dark forest", resolution: "4k" });

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

describe("a creation", () => {
  it.each([
    ["1k", 4],
    ["2k", 6],
    ["4k", 10],
  ])("at %s reserves %i credits and is submitted", async (resolution, cost) => {
    const world = aWorld();
    const owner = await anOwner(world, 100);

    const { task, replayed } = (await world.createPanorama(owner, aCreationRequest({ resolution })))._unsafeUnwrap();

    expect(replayed).toBe(false);
    expect(task).toMatchObject({ state: "submitted", upstreamTaskId: "upstream-1", submittedAt: world.clock.now() });
    expect(await world.ledger.balance(owner)).toBe(100 - cost);
    expect(await world.tasks.find(task.id, owner)).toEqual(task);
    expect(world.reporter.events).toEqual([{ kind: "task_submitted", taskId: task.id, upstreamTaskId: "upstream-1" }]);
  });

  it("that the provider can never make is refused before credits are held, and the provider is not asked", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 100);
    const impossible = { kind: "invalid_request", message: "image_urls: must have an item." } as const;
    world.provider.makes = err(impossible);

    expect((await world.createPanorama(owner, lake))._unsafeUnwrapErr()).toEqual(impossible);
    expect(await world.ledger.balance(owner)).toBe(100);
    expect(await world.ledger.entries(owner)).toHaveLength(1);
    expect(world.provider.started).toBe(0);
  });

  it("is refused without enough credits, and the provider is not asked", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 9);

    const refused = await world.createPanorama(owner, forest);

    expect(refused._unsafeUnwrapErr()).toEqual({ kind: "insufficient_credits", balance: 9, cost: 10 });
    expect(world.provider.started).toBe(0);
    expect(await world.ledger.entries(owner)).toHaveLength(1);
  });

  it("is refused while five tasks are processing, and taken again once one has ended", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 100);
    for (let n = 0; n < 5; n += 1) (await world.createPanorama(owner, lake))._unsafeUnwrap();

    const refused = await world.createPanorama(owner, lake);
    expect(refused._unsafeUnwrapErr()).toEqual({ kind: "too_many_active_tasks", limit: 5 });
    expect(await world.ledger.balance(owner)).toBe(80);

    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
    (await world.createPanorama(owner, lake))._unsafeUnwrap();
  });

  it("says that credits are missing before it says that there are too many tasks", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 20);
    for (let n = 0; n < 5; n += 1) (await world.createPanorama(owner, lake))._unsafeUnwrap();

    expect((await world.createPanorama(owner, lake))._unsafeUnwrapErr().kind).toBe("insufficient_credits");
  });

  it.each([
    ["refuse", "refused", 0],
    ["unknown", "submission_unknown", 1],
    ["unknown_but_started", "submission_unknown", 1],
  ] as const)(
    "that the provider ends with %s is refunded at once, and its task is failed as %s",
    async (submit, reason, orphans) => {
      const world = aWorld();
      world.provider.play({ submit, search: "nothing" });
      const owner = await anOwner(world, 100);

      const refused = await world.createPanorama(owner, lake);

      expect(refused._unsafeUnwrapErr()).toEqual({ kind: "upstream_error" });
      expect(await world.ledger.balance(owner)).toBe(100);
      expect(await world.tasks.list(owner, 10, undefined)).toMatchObject([{ state: "failed", reason }]);
      expect(world.reporter.of("task_failed")).toMatchObject([{ reason }]);
      expect(world.reporter.of("possible_orphan")).toHaveLength(orphans);
    },
  );

  it("that ended unclearly goes on if the provider finds what it has started by our mark", async () => {
    const world = aWorld();
    world.provider.play({ submit: "unknown_but_started", search: "found_if_started" });
    const owner = await anOwner(world, 100);
    const { task } = (await world.createPanorama(owner, lake))._unsafeUnwrap();
    expect(task).toMatchObject({ state: "submitted", upstreamTaskId: "upstream-1" });
    expect(await world.ledger.balance(owner)).toBe(96);
    expect(world.provider.started).toBe(1);
    expect(world.reporter.events.map(({ kind }) => kind)).toEqual(["submission_recovered"]);
  });

  it("that ended unclearly is not held up for longer than five seconds by a search", async () => {
    const world = aWorld();
    world.provider.play({ submit: "unknown_but_started", search: "found_if_started" });
    const owner = await anOwner(world, 100);
    const found = world.provider.hold("search");
    const creation = world.createPanorama(owner, lake);
    await world.clock.advance(4_999);
    expect(await world.ledger.balance(owner)).toBe(96);
    await world.clock.advance(1);
    expect((await creation)._unsafeUnwrapErr()).toEqual({ kind: "upstream_error" });
    expect(await world.ledger.balance(owner)).toBe(100);
    found();
    await world.clock.advance(1);
    expect(await world.tasks.list(owner, 10, undefined)).toMatchObject([{ state: "failed" }]);
    expect(world.clock.sleeping).toBe(0);
  });

  it("is never sent to the provider while a transaction is open: others go on meanwhile", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 100);
    const answer = world.provider.hold("submit");
    const slow = world.createPanorama(owner, lake);
    await world.clock.advance(1);

    expect(await world.ledger.balance(owner)).toBe(96);
    expect(await world.tasks.list(owner, 10, undefined)).toMatchObject([{ state: "reserved" }]);

    answer();
    expect((await slow)._unsafeUnwrap().task.state).toBe("submitted");
  });

  it("of fifty at once on one account leaves five, and exact ledger", async () => {
    await createsFiftyAtOnce(aWorld());
  });
});

describe("a creation whose answer comes after the submission deadline", () => {
  const late = async (changes: Parameters<ReturnType<typeof aWorld>["provider"]["play"]>[0]) => {
    const world = aWorld();
    world.provider.play(changes);
    const owner = await anOwner(world, 100);
    const answer = world.provider.hold("submit");
    const creation = world.createPanorama(owner, lake, key);
    await world.clock.advance(SUBMISSION_DEADLINE_MILLISECONDS);
    await world.sweep();
    answer();
    return { world, owner, created: await creation };
  };

  it("goes on if the sweep has found the upstream task meanwhile", async () => {
    const { world, owner, created } = await late({ submit: "accept", search: "found_if_started" });

    expect(created._unsafeUnwrap()).toMatchObject({ task: { state: "submitted" }, replayed: false });
    expect(await world.ledger.balance(owner)).toBe(96);
    expect(world.reporter.of("possible_orphan")).toEqual([]);
  });

  it("goes on, and is paid for, even if the answer itself is unclear: nobody is told 502 and charged", async () => {
    const { world, owner, created } = await late({ submit: "unknown_but_started", search: "found_if_started" });

    expect(created._unsafeUnwrap()).toMatchObject({ task: { state: "submitted" }, replayed: false });
    expect(await world.ledger.balance(owner)).toBe(96);
  });

  it("is refunded once, and its upstream task reported as an orphan, if the sweep has given up", async () => {
    const { world, owner, created } = await late({ submit: "accept", search: "nothing" });

    expect(created._unsafeUnwrapErr()).toEqual({ kind: "upstream_error" });
    expect((await world.ledger.entries(owner)).map(({ kind }) => kind)).toEqual(["purchase", "reservation", "refund"]);
    expect(world.reporter.of("possible_orphan")).toMatchObject([
      { detail: "ended after the submission deadline: accepted as upstream-1" },
    ]);
  });
});

describe("an idempotency key", () => {
  /** What the same creation gives once more, and whether anything was started or charged by it. */
  const repeat = async (world: ReturnType<typeof aWorld>, owner: Awaited<ReturnType<typeof anOwner>>) => {
    const before = { credits: await world.ledger.balance(owner), started: world.provider.started };
    const result = await world.createPanorama(owner, lake, key);
    const after = { credits: await world.ledger.balance(owner), started: world.provider.started };
    return { result, charged: before.credits - after.credits, started: after.started - before.started };
  };
  const firstCreation = async (world: ReturnType<typeof aWorld>, amount = 100) => {
    const owner = await anOwner(world, amount);
    const created = await world.createPanorama(owner, lake, key);
    return { owner, created };
  };

  it("gives the same task while the first call is still running", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 100);
    const answer = world.provider.hold("submit");
    const first = world.createPanorama(owner, lake, key);
    await world.clock.advance(1);

    const { result, charged, started } = await repeat(world, owner);
    const { task, replayed } = result._unsafeUnwrap();
    expect({ state: task.state, replayed, charged, started }).toEqual({
      state: "reserved",
      replayed: true,
      charged: 0,
      started: 0,
    });

    answer();
    expect((await first)._unsafeUnwrap().task.id).toBe(task.id);
  });

  it.each([
    ["succeeded", "succeeded"],
    ["failed", "failed"],
  ] as const)("gives the same task after it has %s", async (look, state) => {
    const world = aWorld();
    world.provider.play({ poll: look });
    const { owner, created } = await firstCreation(world);
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();

    const { result, charged, started } = await repeat(world, owner);
    expect(result._unsafeUnwrap()).toMatchObject({
      task: { id: created._unsafeUnwrap().task.id, state },
      replayed: true,
    });
    expect({ charged, started }).toEqual({ charged: 0, started: 0 });
  });

  it("refuses another request, whatever differs", async () => {
    const world = aWorld();
    const { owner } = await firstCreation(world);
    for (const other of [
      forest,
      aCreationRequest({ prompt: "a quiet lake", resolution: "2k" }),
      aCreationRequest({ prompt: "a quiet lake", visibility: "public" }),
      aCreationRequest({ prompt: "a quiet lake", image_urls: ["https://example.com/1.jpg"] }),
    ]) {
      expect((await world.createPanorama(owner, other, key))._unsafeUnwrapErr().kind).toBe("invalid_request");
    }
    expect(await world.ledger.balance(owner)).toBe(96);
  });

  it("takes the same request however it was spelt", async () => {
    const world = aWorld();
    const { owner, created } = await firstCreation(world);
    const spelt = aCreationRequest({ visibility: "private", image_urls: [], prompt: "  a quiet lake " });
    expect((await world.createPanorama(owner, spelt, key))._unsafeUnwrap().task.id).toBe(
      created._unsafeUnwrap().task.id,
    );
  });

  it("is each account's own", async () => {
    const world = aWorld();
    const { created } = await firstCreation(world);
    const other = await firstCreation(world);
    expect(other.created._unsafeUnwrap().replayed).toBe(false);
    expect(other.created._unsafeUnwrap().task.id).not.toBe(created._unsafeUnwrap().task.id);
  });

  it("stays free after 402", async () => {
    const world = aWorld();
    const { owner, created } = await firstCreation(world, 3);
    expect(created._unsafeUnwrapErr().kind).toBe("insufficient_credits");
    const order = (await world.createOrder(owner, credits(10)))._unsafeUnwrap();
    await world.payOrder(order.id);
    expect((await repeat(world, owner)).result._unsafeUnwrap().replayed).toBe(false);
  });

  it("stays free after 429", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 100);
    for (let n = 0; n < 5; n += 1) (await world.createPanorama(owner, forest))._unsafeUnwrap();
    expect((await world.createPanorama(owner, lake, key))._unsafeUnwrapErr().kind).toBe("too_many_active_tasks");
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
    expect((await repeat(world, owner)).result._unsafeUnwrap().replayed).toBe(false);
  });

  it.each(["refuse", "unknown", "unknown_but_started"] as const)(
    "stays free after 502 (%s), also for another request",
    async (submit) => {
      const world = aWorld();
      world.provider.play({ submit, search: "nothing" });
      const { owner, created } = await firstCreation(world);
      expect(created._unsafeUnwrapErr().kind).toBe("upstream_error");
      world.provider.play({ submit: "accept" });
      const { result, charged } = await repeat(world, owner);
      expect(result._unsafeUnwrap()).toMatchObject({ task: { state: "submitted" }, replayed: false });
      expect(charged).toBe(4);
    },
  );

  it("is kept for 24 hours, and free afterwards", async () => {
    const world = aWorld();
    const { owner, created } = await firstCreation(world);
    await world.clock.advance(DAY_MILLISECONDS);
    await world.sweep();
    expect((await repeat(world, owner)).result._unsafeUnwrap().replayed).toBe(true);

    await world.clock.advance(1);
    await world.sweep();
    const { task, replayed } = (await repeat(world, owner)).result._unsafeUnwrap();
    expect(replayed).toBe(false);
    expect(task.id).not.toBe(created._unsafeUnwrap().task.id);
  });

  it("names one task, however many calls use it at once", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 100);
    const results = await Promise.all(Array.from({ length: 20 }, () => world.createPanorama(owner, lake, key)));
    const created = results.map((result) => result._unsafeUnwrap());
    expect(new Set<TaskId>(created.map(({ task }) => task.id)).size).toBe(1);
    expect(created.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(world.provider.started).toBe(1);
    expect(await world.ledger.balance(owner)).toBe(96);
  });
});
