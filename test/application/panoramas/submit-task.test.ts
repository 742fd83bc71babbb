import { err, ok } from "neverthrow";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { aCreationRequest } from "../../../adapters/contracts/support/builders.js";
import { queueDeadlineOf } from "../../../application/panoramas/submit-task.js";
import type { IdempotencyKey } from "../../../domain/credits/idempotency.js";
import type { AccountId } from "../../../domain/ids.js";
import { QUEUE_DEADLINE_MILLISECONDS, SUBMISSION_DEADLINE_MILLISECONDS } from "../../support/application.js";
import { anOwner, aWorld, type World } from "../../support/world.js";

const key = "order-4711" as IdempotencyKey;
const lake = aCreationRequest({ prompt: "a quiet lake" });

let world: World;
let owner: AccountId;
beforeEach(async () => {
  world = aWorld();
  owner = await anOwner(world, 100);
});

describe("submitTask after an unclear answer", () => {
  it("uses the upstream task that the search finds", async () => {
    world.provider.play({ submit: "unknown_but_started" });
    const { task } = (await world.createPanorama(owner, lake))._unsafeUnwrap();
    expect(task).toMatchObject({ state: "submitted", upstreamTaskId: "upstream-1" });
    expect(world.reporter.events).toEqual([
      { kind: "submission_recovered", taskId: task.id, provider: "scripted", upstreamTaskId: "upstream-1" },
    ]);
  });

  it("waits five seconds at most for the search", async () => {
    world.provider.play({ submit: "unknown_but_started", search: "found_if_started" });
    const found = world.provider.hold("search");
    const creation = world.createPanorama(owner, lake);
    await world.clock.advance(4_999);
    expect(await world.ledger.balance(owner)).toBe(96);
    await world.clock.advance(1);
    expect((await creation)._unsafeUnwrapErr()).toMatchObject({ kind: "upstream_error" });
    expect(await world.ledger.balance(owner)).toBe(100);
    found();
    await world.clock.advance(1);
    expect(await world.tasks.list(owner, 10, undefined)).toMatchObject([{ state: "failed" }]);
    expect(world.clock.sleeping).toBe(0);
  });
});

/** A creation whose submission is answered after the recovery has resolved it, and `meanwhile` has been done. */
const late = async (
  changes: Parameters<World["provider"]["play"]>[0],
  meanwhile: (world: World, owner: AccountId) => Promise<void> = async () => {},
) => {
  const world = aWorld();
  world.provider.play(changes);
  const owner = await anOwner(world, 100);
  const cancel = vi.spyOn(world.provider, "cancel");
  const answer = world.provider.hold("submit");
  const creation = world.createPanorama(owner, lake, key);
  await world.clock.advance(SUBMISSION_DEADLINE_MILLISECONDS);
  await world.recover();
  await meanwhile(world, owner);
  answer();
  return { world, owner, created: await creation, stopped: cancel.mock.calls.flat() };
};

describe("submitTask when the provider answers after the submission deadline", () => {
  const detail = (result: string) => `ended after the submission deadline: ${result}`;

  it("returns a task that has failed and was deleted, and reports its orphan", async () => {
    const deleteIt = async (world: World, owner: AccountId) => {
      for (const { id } of await world.tasks.list(owner, 1, undefined)) await world.deletePanorama(id, owner);
    };
    const { world, owner, created } = await late({ search: "nothing" }, deleteIt);
    expect(created._unsafeUnwrap()).toMatchObject({ task: { state: "submitting" }, replayed: false });
    expect(world.reporter.of("possible_orphan").at(-1)?.detail).toBe(detail("accepted as upstream-1"));
    expect(await world.ledger.balance(owner)).toBe(100);
  });

  it("refunds once, reports a possible orphan and stops it if the recovery has failed the task", async () => {
    const { world, owner, created, stopped } = await late({ submit: "accept", search: "nothing" });

    expect(created._unsafeUnwrap()).toMatchObject({ task: { state: "failed" }, replayed: false });
    expect((await world.ledger.entries(owner)).map(({ kind }) => kind)).toEqual(["purchase", "reservation", "refund"]);
    expect(world.reporter.of("possible_orphan")).toMatchObject([
      { detail: "the script is unavailable" },
      { detail: detail("accepted as upstream-1") },
    ]);
    expect(stopped).toEqual(["upstream-1"]);
  });

  it("reports no orphan and stops nothing if the recovery has found the same upstream task", async () => {
    const { world, created, stopped } = await late({ submit: "accept" });
    expect(created._unsafeUnwrap().task).toMatchObject({ state: "submitted", upstreamTaskId: "upstream-1" });
    expect([world.reporter.of("possible_orphan"), stopped]).toEqual([[], []]);
  });

  it.each([
    ["busy", "the script is busy"],
    ["refuse", "the script refuses"],
  ] as const)(
    "returns the failed task for a late %s, and refunds once, if the task has failed",
    async (submit, reason) => {
      const { world, owner, created, stopped } = await late({ submit, search: "unavailable" });
      const { task } = created._unsafeUnwrap();
      expect(task).toMatchObject({ state: "failed", reason: "never_submitted" });
      const repeated = await world.createPanorama(owner, lake, key);
      expect(repeated._unsafeUnwrap()).toEqual({ task, replayed: true });
      expect(await world.ledger.balance(owner)).toBe(100);
      expect(world.reporter.of("task_failed")).toHaveLength(1);
      expect(world.reporter.of("possible_orphan")).toMatchObject([
        { detail: "the script is unavailable" },
        { detail: detail(reason) },
      ]);
      expect(stopped).toEqual([]);
    },
  );

  it("reports an orphan that the search did not find, and returns the requeued task", async () => {
    world.provider.search = async () => ok(undefined);
    const answer = world.provider.hold("submit");
    const creation = world.createPanorama(owner, lake);
    await world.clock.advance(SUBMISSION_DEADLINE_MILLISECONDS);
    await world.recover();
    answer();
    const { task } = (await creation)._unsafeUnwrap();
    expect(task).toMatchObject({ state: "queued", submissions: 1 });
    expect(world.reporter.of("possible_orphan")).toEqual([
      { kind: "possible_orphan", taskId: task.id, detail: detail("accepted as upstream-1") },
    ]);
    expect(await world.ledger.balance(owner)).toBe(96);
    expect(world.provider.canceled.size).toBe(0);
  });

  it("reports no orphan for a late refusal of a task that is queued or sent again", async () => {
    const queued = await late({ submit: "refuse" });
    expect(queued.created._unsafeUnwrap().task.state).toBe("queued");
    const sent = await late({ submit: "refuse" }, async (world) => {
      world.provider.submit = async () => ok("upstream-2");
      await world.start();
    });
    expect(sent.created._unsafeUnwrap().task).toMatchObject({ state: "submitted", upstreamTaskId: "upstream-2" });
    for (const { world } of [queued, sent]) expect(world.reporter.of("possible_orphan")).toEqual([]);
  });
});

describe("submitTask when the provider is busy", () => {
  it.each([
    [undefined, 0],
    [30_000, 30_000],
    [90_000, 60_000],
  ])("starts nothing during the pause that it demands, at most a minute: %s -> %i ms", async (asked, pause) => {
    world.provider.submit = async () => err({ kind: "busy", reason: "no room", retryAfterMilliseconds: asked });
    expect((await world.createPanorama(owner, lake))._unsafeUnwrap().task.state).toBe("queued");
    Reflect.deleteProperty(world.provider, "submit");
    let paused = 0;
    for (; paused < 90_000 && (await world.start()) === 0; paused += 1_000) await world.clock.advance(1_000);
    expect(paused).toBe(pause);
  });

  it.each([
    ["queues it again just before", QUEUE_DEADLINE_MILLISECONDS - 1, undefined],
    ["fails it as never_started at", QUEUE_DEADLINE_MILLISECONDS, "never_started"],
  ] as const)("%s the queue deadline of a queued task", async (_, milliseconds, reason) => {
    world.provider.ready = "busy";
    const { task } = (await world.createPanorama(owner, lake))._unsafeUnwrap();
    world.provider.ready = "ready";
    world.provider.play({ submit: "busy" });
    const answer = world.provider.hold("submit");
    const starting = world.start();
    await world.clock.advance(milliseconds);
    answer();
    expect(await starting).toBe(1);
    const state = reason === undefined ? "queued" : "failed";
    expect(await world.tasks.find(task.id, owner)).toMatchObject({ state, ...(reason && { reason }) });
    expect(await world.ledger.balance(owner)).toBe(reason === undefined ? 96 : 100);
  });

  it("refuses a creation that it has not accepted by the queue deadline", async () => {
    world.provider.play({ submit: "busy" });
    const answer = world.provider.hold("submit");
    const creation = world.createPanorama(owner, lake);
    await world.clock.advance(QUEUE_DEADLINE_MILLISECONDS);
    answer();
    const failed = { state: "failed", reason: "refused" };
    expect((await creation)._unsafeUnwrapErr()).toMatchObject({ kind: "upstream_error", failed });
    expect(await world.ledger.balance(owner)).toBe(100);
    const detail = "the provider was busy for too long: the script is busy";
    expect(world.reporter.of("task_failed")).toMatchObject([{ detail }]);
  });
});

it("queueDeadlineOf counts from a reservation that lies up to a minute in the future, as clocks differ", () => {
  const now = new Date("2026-01-01T12:00:00.000Z");
  const deadline = (milliseconds: number) =>
    queueDeadlineOf(
      { reservedAt: new Date(now.getTime() + milliseconds) },
      { queueDeadlineMilliseconds: QUEUE_DEADLINE_MILLISECONDS },
      now,
    ).getTime() - now.getTime();
  expect(deadline(-1)).toBe(QUEUE_DEADLINE_MILLISECONDS - 1);
  expect(deadline(60_000)).toBe(QUEUE_DEADLINE_MILLISECONDS + 60_000);
  expect(deadline(60_000 + 1)).toBe(0);
});
