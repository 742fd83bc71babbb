import { describe, expect, it } from "vitest";
import { aCreationRequest, accountId, noon } from "../../../adapters/contracts/support/builders.js";
import {
  ERASE_PAUSE_MILLISECONDS,
  eraseClosedAccounts,
  eraseTexts,
  forgetOperatorActions,
} from "../../../application/background/erase.js";
import { TEXTS_KEPT_MILLISECONDS } from "../../../domain/tasks/task-texts.js";
import { anOwner, aWorld } from "../../support/world.js";

const clock = { now: () => noon, sleep: async () => {} };

describe("eraseTexts", () => {
  const storeWith = (count: number) => {
    const calls: { before: Date; limit: number }[] = [];
    let left = count;
    const erase = async (before: Date, limit: number) => {
      calls.push({ before, limit });
      const erased = Math.min(left, limit);
      left -= erased;
      return erased;
    };
    const world = aWorld();
    const tasks = Object.assign(Object.create(world.tasks) as typeof world.tasks, { eraseTexts: erase });
    return { calls, left: () => left, ports: { ...world, tasks, clock } };
  };

  it("erases texts older than a week, in several statements", async () => {
    const store = storeWith(250);
    expect(await eraseTexts(store.ports)).toBe(250);
    const before = new Date(noon.getTime() - 7 * 24 * 60 * 60 * 1000);
    expect(before).toEqual(new Date(noon.getTime() - TEXTS_KEPT_MILLISECONDS));
    expect(store.calls).toEqual([1, 2, 3].map(() => ({ before, limit: 100 })));
  });

  it("stops after 50 statements and continues in the next run", async () => {
    const store = storeWith(1_000_000);
    expect(await eraseTexts(store.ports)).toBe(5_000);
    expect(store.left()).toBe(995_000);
  });

  it("stops when the signal is aborted", async () => {
    const store = storeWith(250);
    expect(await eraseTexts(store.ports, AbortSignal.abort())).toBe(0);
    expect(store.calls).toEqual([]);
  });
});

describe("forgetOperatorActions", () => {
  it.each([
    { stopping: undefined, deleted: 1_200, limits: [500, 500, 500] },
    { stopping: AbortSignal.abort(), deleted: 500, limits: [500] },
  ])("deletes $deleted old actions in several statements", async ({ stopping, deleted, limits }) => {
    const calls: { before: Date; limit: number }[] = [];
    const deleteBefore = async (before: Date, limit: number) => {
      calls.push({ before, limit });
      return Math.min(limit, 1_700 - 500 * calls.length);
    };
    const world = aWorld();
    const operatorLog = Object.assign(Object.create(world.operatorLog) as typeof world.operatorLog, { deleteBefore });
    expect(await forgetOperatorActions({ ...world, operatorLog, clock }, 730, stopping)).toBe(deleted);
    const before = new Date(noon.getTime() - 730 * 24 * 60 * 60 * 1000);
    expect(calls).toEqual(limits.map((limit) => ({ before, limit })));
  });
});

describe("eraseClosedAccounts", () => {
  it("erases nothing when the signal is aborted", async () => {
    const never = () => Promise.reject(new Error("it was called"));
    const erasure = { eraseTasks: never, eraseEvents: never, recordErased: never };
    const operators = { ...erasure, closedNotErased: async () => [accountId(1)] };
    await expect(eraseClosedAccounts({ ...aWorld(), operators, clock }, AbortSignal.abort())).resolves.toBe(1);
  });
});

describe("eraseDeletedPanoramas", () => {
  it("needs no provider that deletes copies", async () => {
    const world = aWorld();
    const owner = await anOwner(world, 10);
    const { id } = (await world.createPanorama(owner, aCreationRequest()))._unsafeUnwrap().task;
    await world.clock.advance(world.provider.nextPollMilliseconds());
    await world.settle();
    await world.deletePanorama(id, owner);
    Object.assign(world.provider, { discard: undefined });
    expect(await world.erase()).toBe(1);
    await world.clock.advance(ERASE_PAUSE_MILLISECONDS);
    expect(await world.erase()).toBe(0);
  });
});
