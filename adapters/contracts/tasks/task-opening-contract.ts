import { err, ok, type Result } from "neverthrow";
import type { TaskLists } from "../../../application/ports/stores/tasks/task-lists.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { Standing } from "../../../domain/credits/standing.js";
import { aSubmittingTask, noon, orderId, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import type { TaskSetup } from "./task-setup.js";

/** Opening of a task by a creation: `open`. */
export const describeOpening = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { openAccount, owner, stranger, open, submitting, standing, keyed } = on;
  let tasks: TaskStore & TaskLists;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  it("stores the task, reserves its credits, takes a slot and adds a ledger entry", async () => {
    const task = aSubmittingTask();
    expect(await open(task)).toEqual(ok({ task, replayed: false }));
    expect(await tasks.find(task.id, owner)).toEqual(task);
    expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
    expect(await on.stores.ledger.entries(owner)).toEqual([
      { kind: "purchase", accountId: owner, orderId: orderId(1), credits: 100, at: noon },
      { kind: "reservation", accountId: owner, taskId: task.id, credits: -4, at: noon },
    ]);
  });

  it("passes the account's standing to the decision and returns its refusal", async () => {
    await submitting();
    let seen: Standing | undefined;
    const refused = await tasks.open({
      account: owner,
      dueAt: noon,
      idempotent: keyed("k"),
      decide: (current) => {
        seen = current;
        return err({ kind: "no" as const });
      },
    });
    expect(refused).toEqual(err({ kind: "no" }));
    expect(seen).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
  });

  it("stores neither task nor idempotency key of a refused creation", async () => {
    await tasks.open({ account: owner, dueAt: noon, idempotent: keyed("k"), decide: () => err("no") });
    expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
    expect(await tasks.list(owner, 10, undefined)).toEqual([]);
    expect(await open(aSubmittingTask(), { idempotent: keyed("k", "b".repeat(64)) })).toEqual(
      ok({ task: aSubmittingTask(), replayed: false }),
    );
  });

  it("stores nothing if the decision throws", async () => {
    const opening = tasks.open({
      account: owner,
      dueAt: noon,
      idempotent: keyed("k"),
      decide: () => {
        throw new Error("a bug");
      },
    });
    await expect(opening).rejects.toThrow("a bug");
    expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
    await submitting();
  });

  it("throws for an unknown account", async () => {
    await expect(open(aSubmittingTask({ accountId: stranger }))).rejects.toThrow(stranger);
  });

  it("admits five of fifty concurrent creations of one account", async () => {
    const openings = Array.from({ length: 50 }, (_, n) => open(aSubmittingTask({ id: taskId(n) })));
    const results = await Promise.all(openings);
    expect(results.filter((result) => result.isOk())).toHaveLength(5);
    expect(refusals(results)).toEqual(new Set(["too_many_active_tasks"]));
    expect(await standing()).toEqual({ accountId: owner, credits: 80, activeTasks: 5 });
  });

  it("admits only as many of fifty concurrent creations as the credits pay for", async () => {
    await openAccount(2, 11);
    const openings = Array.from({ length: 50 }, (_, n) =>
      open(aSubmittingTask({ id: taskId(n), accountId: stranger })),
    );
    const results = await Promise.all(openings);
    expect(results.filter((result) => result.isOk())).toHaveLength(2);
    expect(refusals(results)).toEqual(new Set(["insufficient_credits"]));
    expect(await standing(stranger)).toEqual({ accountId: stranger, credits: 3, activeTasks: 2 });
  });
};

const refusals = (results: readonly Result<unknown, { readonly kind: string }>[]) =>
  new Set(results.flatMap((result) => (result.isErr() ? [result.error.kind] : [])));
