import { err, ok } from "neverthrow";
import type { TaskAccess } from "../../../application/ports/stores/tasks/task-access.js";
import type { TaskStore } from "../../../application/ports/stores/tasks/task-store.js";
import type { TaskWork } from "../../../application/ports/stores/tasks/task-work.js";
import { deletedReplay } from "../../../domain/credits/idempotency.js";
import { submit } from "../../../domain/tasks/task.js";
import { aSubmittingTask, noon, secondsAfter, taskId } from "../support/builders.js";
import { expect } from "../support/expect.js";
import type { TestFunctions } from "../support/test-functions.js";
import { type TaskSetup, unwrap } from "./task-setup.js";

/** Effects of the idempotency key of a creation: `open` with `idempotent`, `forgetIdempotencyKeys`. */
export const describeIdempotency = ({ it, beforeEach }: TestFunctions, on: TaskSetup): void => {
  const { openAccount, owner, stranger, open, failed, standing, keyed } = on;
  let tasks: TaskStore & TaskAccess & TaskWork;

  beforeEach(async () => {
    ({ tasks } = on.stores);
  });

  it("returns the current task for a repeated request, without calling the decision", async () => {
    unwrap(await open(aSubmittingTask(), { idempotent: keyed("k") }));
    const next = submit(aSubmittingTask(), "upstream-1", noon);
    unwrap(await tasks.move(aSubmittingTask(), next, noon));
    const repeated = await tasks.open({
      account: owner,
      dueAt: noon,
      idempotent: keyed("k"),
      decide: () => {
        throw new Error("must not be called");
      },
    });
    expect(repeated).toEqual(ok({ task: next, replayed: true }));
    expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
  });

  it("rejects a repeated key with another request", async () => {
    unwrap(await open(aSubmittingTask(), { idempotent: keyed("k") }));
    const other = await open(aSubmittingTask({ id: taskId(2) }), { idempotent: keyed("k", "b".repeat(64)) });
    expect(other).toEqual(
      err({ kind: "invalid_request", field: "Idempotency-Key", rule: { name: "key_reused", hours: 24 } }),
    );
    expect(await tasks.find(taskId(2), owner)).toBeUndefined();
  });

  it("keeps idempotency keys separate per account", async () => {
    await openAccount(2);
    unwrap(await open(aSubmittingTask(), { idempotent: keyed("k") }));
    const theirs = aSubmittingTask({ id: taskId(2), accountId: stranger });
    expect(await open(theirs, { idempotent: keyed("k") })).toEqual(ok({ task: theirs, replayed: false }));
  });

  it("rejects a repeated key of a deleted task, and with another request", async () => {
    const task = aSubmittingTask({ id: taskId(1), accountId: owner });
    unwrap(await open(task, { idempotent: keyed("k") }));
    const sent = submit(task, "upstream-1", noon);
    unwrap(await tasks.move(task, sent, noon));
    unwrap(await tasks.move(sent, failed(sent), undefined));
    unwrap(await tasks.delete(task.id, owner, noon));
    const repeated = aSubmittingTask({ id: taskId(2), accountId: owner });
    expect(await open(repeated, { idempotent: keyed("k") })).toEqual(err(deletedReplay(task.id)));
    const other = await open(repeated, { idempotent: keyed("k", "b".repeat(64)) });
    expect(other).toMatchObject(err({ kind: "invalid_request" }));
    expect(await standing()).toEqual({ accountId: owner, credits: 100, activeTasks: 0 });
  });

  it("opens one task for twenty concurrent calls", async () => {
    const openings = Array.from({ length: 20 }, (_, n) =>
      open(aSubmittingTask({ id: taskId(n) }), { idempotent: keyed("k") }),
    );
    const opened = (await Promise.all(openings)).map(unwrap);
    expect(new Set(opened.map(({ task }) => task.id)).size).toBe(1);
    expect(opened.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(await standing()).toEqual({ accountId: owner, credits: 96, activeTasks: 1 });
  });

  it("can be used again if its task was refused before its submission", async () => {
    unwrap(await open(aSubmittingTask(), { idempotent: keyed("k") }));
    unwrap(await tasks.move(aSubmittingTask(), failed(aSubmittingTask(), "refused"), undefined));
    const again = aSubmittingTask({ id: taskId(2) });
    expect(await open(again, { idempotent: keyed("k") })).toEqual(ok({ task: again, replayed: false }));
  });

  it("still returns a task that failed after its submission", async () => {
    unwrap(await open(aSubmittingTask(), { idempotent: keyed("k") }));
    const accepted = submit(aSubmittingTask(), "upstream-1", noon);
    unwrap(await tasks.move(aSubmittingTask(), accepted, noon));
    unwrap(await tasks.move(accepted, failed(accepted), undefined));
    expect(await open(aSubmittingTask({ id: taskId(2) }), { idempotent: keyed("k") })).toEqual(
      ok({ task: failed(accepted), replayed: true }),
    );
  });

  it("deletes only keys first used before the given time", async () => {
    unwrap(await open(aSubmittingTask({ reservedAt: noon }), { idempotent: keyed("k") }));
    await tasks.forgetIdempotencyKeys(noon);
    expect(unwrap(await open(aSubmittingTask(), { idempotent: keyed("k") })).replayed).toBe(true);
    await tasks.forgetIdempotencyKeys(secondsAfter(noon, 0.001));
    const again = aSubmittingTask({ id: taskId(2) });
    expect(await open(again, { idempotent: keyed("k") })).toEqual(ok({ task: again, replayed: false }));
  });
};
